// A million migrations: the page stays below 5 MiB, and a browser shows it in less than two seconds of a processor,
// which other programs' load does not lengthen; a step of zoom is fluid.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { after, before, test } from "node:test";
import { database, drawn, inkOf, open, report, start, stop } from "./lib.mjs";

const rows = `
INSERT INTO run (role, tool, command, source, clock, end_ns, ended, exit_status, machine, driver, xnack, page_bytes, memory_bytes, policy)
	VALUES ('simulation', 'umsim test', './app', 'app.um.db', 'simulated', 10000000000, 'exited', 0, 'mi250x', 'amdgpu_svm', 'on', 65536, 68719476736, 'program: {}');
INSERT INTO device (device, name) VALUES (0, 'AMD Instinct MI250X');
INSERT INTO origin (record, origin) VALUES ('op.time', 'modelled'), ('migration', 'modelled'), ('fault', 'modelled');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
	INSERT INTO allocation (allocation, kind, bytes, op) SELECT i, 'managed', 268435456, i FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
	INSERT INTO op (op, kind, start_ns, end_ns) SELECT i, 'alloc', 0, 0 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999)
	INSERT INTO op (op, kind, start_ns, end_ns, stream, device) SELECT 1000 + i, 'launch', i * 500000, i * 500000 + 400000, i % 4, 0 FROM n;
INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z)
	SELECT op, 'kernel' || (op % 50), 64, 1, 1, 256, 1, 1 FROM op WHERE kind = 'launch';
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999999)
	INSERT INTO migration (op, allocation, first_page, pages, bytes, source, destination, cause_code, transfers, start_ns, duration_ns)
	SELECT 1000 + i / 50, 1 + i * 7919 % 200, i * 104729 % 4096 * 16, 16, 65536, -(i % 3 > 0), -(i % 3 = 0), (i % 3 = 0) * 3, 1, i * 10000, 8000 FROM n;
`;

let path;
before(async () => {
	path = report("million", database("million", rows));
	await start();
});
after(stop);

test("at most 5 MiB", () => {
	const { size } = statSync(path);
	assert.ok(size <= 5 << 20, `${size} bytes`);
});

test("shown in less than 2 s, a step of zoom in less than a quarter", async () => {
	let shown = Infinity;
	let zoomed = Infinity;
	for (let i = 0; i < 2; i++) {
		const { page, said, asked } = await open(path);
		const session = await page.createCDPSession();
		await session.send("Performance.enable", { timeDomain: "threadTicks" });
		const processor = async () => 1000 * (await session.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value;
		const before = await processor();
		await page.reload();
		await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
		await drawn(page);
		const loaded = await processor();
		await page.click(".toolbar button");
		await drawn(page);
		zoomed = Math.min(zoomed, (await processor()) - loaded);
		shown = Math.min(shown, loaded - before);
		const ink = await Promise.all((await page.$$(".chart canvas")).map((canvas) => inkOf(canvas)));
		assert.ok(ink.length >= 3 && ink.every(({ share }) => share > 0.005), JSON.stringify(ink));
		assert.deepEqual([said, asked.filter((url) => !url.endsWith("million.html"))], [[], []]);
		await page.close();
	}
	console.log(`shown after ${shown.toFixed(0)} ms, zoomed after ${zoomed.toFixed(0)} ms, of a processor`);
	assert.ok(shown < 2000, `${shown} ms`);
	assert.ok(zoomed < 250, `${zoomed} ms`);
});
