-- What crossed the link by migrations and copies, each way, in bytes, and for how long the device or the link
-- was busy, overlap counted once, in nanoseconds: of a measured trace or of a simulation alike.
WITH interval AS (
	SELECT start_ns AS first, end_ns AS last FROM op
	WHERE kind IN ('launch', 'copy', 'memset') AND end_ns > start_ns
	UNION ALL SELECT start_ns, start_ns + duration_ns FROM migration WHERE duration_ns > 0
), ordered AS (
	SELECT first, last, MAX(last) OVER (ORDER BY first, last
		ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS so_far
	FROM interval
)
SELECT (SELECT COALESCE(SUM(bytes), 0) FROM migration WHERE source = -1) +
	(SELECT COALESCE(SUM(bytes_to_device), 0) FROM copy_traffic),
	(SELECT COALESCE(SUM(bytes), 0) FROM migration WHERE destination = -1) +
	(SELECT COALESCE(SUM(bytes_to_host), 0) FROM copy_traffic),
	(SELECT COALESCE(SUM(MAX(0, last - MAX(first, COALESCE(so_far, first)))), 0) FROM ordered);
