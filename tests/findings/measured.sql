-- What crossed the link by migrations and copies, each way, in bytes, and for how long the device or the link
-- was busy, overlap counted once, in nanoseconds: of a measured trace or of a simulation alike. A simulation's
-- row may be many transfers one after another with the link idle between them (schema.sql): of such a row counts
-- what its transfers take: by the link's rate, and 1.5 us each (what 4 KiB take on an H200).
WITH interval AS (
	SELECT start_ns AS first, end_ns AS last FROM op
	WHERE kind IN ('launch', 'copy', 'memset') AND end_ns > start_ns
	UNION ALL SELECT start_ns, start_ns + MIN(duration_ns, COALESCE(transfers * 1500 + bytes * 1e9 /
		(SELECT MIN(link_to_device_bytes_per_s, link_to_host_bytes_per_s) FROM device), duration_ns))
	FROM migration WHERE duration_ns > 0
), ordered AS (
	SELECT first, last, MAX(last) OVER (ORDER BY first, last
		ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS so_far
	FROM interval
)
SELECT (SELECT COALESCE(SUM(bytes), 0) FROM migration WHERE source = -1) +
	(SELECT COALESCE(SUM(bytes_to_device), 0) FROM copy_traffic),
	(SELECT COALESCE(SUM(bytes), 0) FROM migration WHERE destination = -1) +
	(SELECT COALESCE(SUM(bytes_to_host), 0) FROM copy_traffic),
	(SELECT CAST(COALESCE(SUM(MAX(0, last - MAX(first, COALESCE(so_far, first)))), 0) AS INTEGER) FROM ordered);
