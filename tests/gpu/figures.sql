-- The sums of a measured trace: a line for each range that the program named, or one for the whole run
-- where it named none. Columns as in the first line of figures.tsv, from `name` on.
CREATE TEMP TABLE move AS SELECT start_ns, bytes, duration_ns, destination FROM migration;
CREATE INDEX temp.move_start ON move (start_ns);
CREATE TEMP TABLE served AS SELECT start_ns, device, COALESCE(faults, 1) AS faults FROM fault;
CREATE INDEX temp.served_start ON served (start_ns);
CREATE TEMP TABLE mapped AS SELECT at_ns FROM mapping WHERE change = 'remote';
CREATE INDEX temp.mapped_start ON mapped (at_ns);
CREATE TEMP TABLE ran AS SELECT start_ns, end_ns - start_ns AS duration_ns FROM op WHERE kind = 'launch';
CREATE INDEX temp.ran_start ON ran (start_ns);
CREATE TEMP TABLE span AS
	SELECT op.op, substr(name, 1, instr(name || '#', '#') - 1) AS name, op.start_ns, op.end_ns
	FROM user_range JOIN op USING (op)
	UNION ALL
	SELECT 0, '*', start_ns, COALESCE(end_ns, 9e18) FROM run
	WHERE NOT EXISTS (SELECT * FROM user_range);

SELECT name,
	(SELECT COALESCE(SUM(bytes), 0) FROM move WHERE start_ns BETWEEN s.start_ns AND s.end_ns
		AND destination >= 0),
	(SELECT COUNT(*) FROM move WHERE start_ns BETWEEN s.start_ns AND s.end_ns AND destination >= 0),
	(SELECT COALESCE(SUM(bytes), 0) FROM move WHERE start_ns BETWEEN s.start_ns AND s.end_ns
		AND destination < 0),
	(SELECT COUNT(*) FROM move WHERE start_ns BETWEEN s.start_ns AND s.end_ns AND destination < 0),
	(SELECT COUNT(*) FROM served WHERE start_ns BETWEEN s.start_ns AND s.end_ns AND device >= 0),
	(SELECT COALESCE(SUM(faults), 0) FROM served WHERE start_ns BETWEEN s.start_ns AND s.end_ns
		AND device >= 0),
	(SELECT COUNT(*) FROM served WHERE start_ns BETWEEN s.start_ns AND s.end_ns AND device < 0),
	(SELECT COUNT(*) FROM mapped WHERE at_ns BETWEEN s.start_ns AND s.end_ns),
	(SELECT COALESCE(SUM(duration_ns), 0) FROM move WHERE start_ns BETWEEN s.start_ns AND s.end_ns),
	(SELECT COALESCE(SUM(duration_ns), 0) FROM ran WHERE start_ns BETWEEN s.start_ns AND s.end_ns),
	(SELECT COUNT(*) FROM ran WHERE start_ns BETWEEN s.start_ns AND s.end_ns)
FROM span AS s ORDER BY op;
