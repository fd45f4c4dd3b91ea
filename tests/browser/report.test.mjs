// The report of a simulation made here: charts are drawn, zoom and hover work, both themes, the keyboard, paper.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { boxOf, database, drawn, inkOf, keep, open, quoted, report, start, stop } from "./lib.mjs";

const launches = 40;
const kernelName = "void smooth<float>(float*, float const*, int)";

/** Launches of 100 us each; each moves a part of the grid over, and every fourth time it comes back. */
function rows(policy) {
	const out = [
		`INSERT INTO run (role, tool, command, source, clock, end_ns, ended, exit_status, machine, driver, xnack, xnack_source, page_bytes, memory_bytes, policy) VALUES ('simulation', 'umsim test', './smooth --n 3', 'smooth.um.db', 'simulated', 10000000, 'exited', 0, 'mi250x', 'amdgpu_svm', 'on', 'HSA_XNACK=1', 2097152, 67108864, ${quoted(policy)});`,
		"INSERT INTO device (device, name, arch, link) VALUES (0, 'AMD Instinct MI250X', 'gfx90a', 'PCIe 4.0 x16');",
		...["op.time", "migration", "fault", "mapping", "remote_access", "copy_traffic"].map((r) => `INSERT INTO origin (record, origin, detail) VALUES ('${r}', 'modelled', 'rules from source, not checked on hardware');`),
		"INSERT INTO site (site) VALUES (1), (2);",
		"INSERT INTO frame (site, depth, module, offset_bytes, function, file, line) VALUES (1, 0, '/app', 1, 'main', '/src/smooth.hip', 42), (2, 0, '/app', 2, 'main', '/src/smooth.hip', 57);",
		"INSERT INTO op (op, kind, start_ns, end_ns, site) VALUES (1, 'alloc', 0, 0, 1), (2, 'range', 0, 9000000, 1);",
		"INSERT INTO user_range VALUES (2, 3, 'relax');",
		"INSERT INTO allocation (allocation, kind, bytes, op, site, name) VALUES (1, 'managed', 16777216, 1, 1, 'grid');",
	];
	for (let i = 0; i < launches; i++) {
		const [op, at] = [3 + i, 200000 * (i + 1)];
		out.push(
			`INSERT INTO op (op, kind, start_ns, end_ns, stream, device, site) VALUES (${op}, 'launch', ${at}, ${at + 100000}, ${i % 2}, 0, 2);`,
			`INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z) VALUES (${op}, ${quoted(kernelName)}, 8, 1, 1, 256, 1, 1);`,
			`INSERT INTO fault (op, device, allocation, first_page, pages, faults, access_code, batch, start_ns, duration_ns) VALUES (${op}, 0, 1, ${(i % 8) * 512}, 512, ${i + 1}, 0, ${i}, ${at}, 20000);`,
			`INSERT INTO migration (op, allocation, first_page, pages, bytes, source, destination, cause_code, transfers, start_ns, duration_ns) VALUES (${op}, 1, ${(i % 8) * 512}, 512, 2097152, -1, 0, 0, 1, ${at + 20000}, 60000);`,
		);
		if (i % 4 === 3) out.push(`INSERT INTO migration (op, allocation, first_page, pages, bytes, source, destination, cause_code, transfers, start_ns, duration_ns) VALUES (${op}, 1, 0, 1024, 4194304, 0, -1, 3, 2, ${at + 90000}, 9000);`);
	}
	return out.join("\n");
}

let path;
before(async () => {
	path = report("smooth", database("smooth.on", rows("program: {}")), database("smooth.off", rows("program: {}").replaceAll("cause_code, transfers, start_ns, duration_ns) VALUES (3", "cause_code, transfers, start_ns, duration_ns) VALUES (4")));
	await start();
});
after(stop);

for (const theme of ["light", "dark"])
	test(`${theme}: charts are drawn, nothing is said or asked for`, async () => {
		const { page, said, asked } = await open(path, { theme });
		const canvases = await page.$$(".chart canvas");
		assert.equal(canvases.length, 5, "lanes, transfers, faults, memory, pages");
		for (const canvas of canvases) {
			const { colours, share } = await inkOf(canvas);
			assert.ok(colours > 8 && share > 0.01, `an empty chart: ${colours} colours, ${share}`);
		}
		const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
		const lightness = Math.max(...back.match(/\d+/g).slice(0, 3).map(Number));
		assert.ok(theme === "dark" ? lightness < 64 : lightness > 192, back);
		await keep(page, `report-${theme}`);
		assert.deepEqual([said, asked], [[], []]);
		await page.close();
	});

test("the first screen says what it cost and why", async () => {
	const { page } = await open(path);
	const text = await page.$eval("#overview", (e) => e.innerText);
	for (const part of ["80 MiB", "40 MiB", "XNACK", "HSA_XNACK=1", "amdgpu_svm, a model", "not checked on hardware", "device faults", "grid", "smooth.hip:42", "modelled"]) assert.ok(text.includes(part), `${part} is not in: ${text}`);
	const head = await page.$eval("#about", (e) => e.innerText);
	assert.ok(head.includes("rules from source, not checked on hardware"), head);
	await page.close();
});

test("what goes from GPU to GPU has a tile, where anything does", async () => {
	const peers = rows("program: {}")
		.concat("\nINSERT INTO origin (record, origin) VALUES ('peer_traffic', 'modelled');")
		.concat("\nINSERT INTO peer_traffic (op, allocation, source, destination, bytes, cause) VALUES (3, 1, 0, 1, 2097152, 'copy'), (4, 1, 0, 1, 1048576, 'remote_access');");
	const { page } = await open(report("peers", database("peers.on", peers)));
	const text = await page.$eval("#overview", (e) => e.innerText);
	for (const part of ["between GPUs", "3 MiB", "2 MiB copied, 1 MiB accessed in place"]) assert.ok(text.toLowerCase().includes(part.toLowerCase()), `${part} is not in: ${text}`);
	await page.close();
	const { page: without } = await open(path);
	assert.ok(!(await without.$eval("#overview", (e) => e.innerText)).toLowerCase().includes("between gpus"));
	await without.close();
});

test("hover says kernel, allocation and line", async () => {
	const { page } = await open(path);
	const box = await boxOf(page, "#timeline .lanes .u-over");
	const row = async (name) => {
		const at = { phases: 0, "stream 0": 1, "stream 1": 2 }[name];
		await page.mouse.move(box.x + (box.width * 250000) / 9000000, box.y + (box.height * (at + 0.5)) / 3);
		return page.$eval(".tooltip", (e) => (e.hidden ? "" : e.innerText));
	};
	const kernel = await row("stream 0");
	for (const part of [kernelName, "smooth.hip:57", "100 µs", "grid", "smooth.hip:42", "device faults"]) assert.ok(kernel.includes(part), `${part} is not in: ${kernel}`);
	assert.ok((await row("phases")).includes("relax"));
	await page.mouse.move(5, 5);
	assert.equal(await page.$eval(".tooltip", (e) => e.hidden), true);
	await page.close();
});

test("zoom by mouse, keyboard and button is one for all charts", async () => {
	const { page, said } = await open(path);
	const sight = () => page.$eval(".in-sight", (e) => e.textContent);
	const pictures = async () => Promise.all((await page.$$(".chart canvas")).map((c) => c.evaluate((e) => e.toDataURL())));
	const whole = await sight();
	const before = await pictures();
	const box = await boxOf(page, "#timeline .lanes .u-over");
	await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.5, box.y + 20, { steps: 5 });
	await page.mouse.up();
	await drawn(page);
	const [from, to] = (await sight()).match(/[\d.]+ ms/g).map(parseFloat);
	assert.ok(Math.abs(from - 2.25) < 0.05 && Math.abs(to - 4.5) < 0.05, `${from} to ${to}`);
	(await pictures()).forEach((picture, i) => assert.notEqual(picture, before[i], `chart ${i} did not follow`));

	await page.mouse.click(box.x + box.width / 2, box.y + 20, { count: 2 });
	await drawn(page);
	assert.equal(await sight(), whole);
	await page.focus("#timeline .chart");
	await page.keyboard.press("+");
	const zoomed = await sight();
	assert.notEqual(zoomed, whole);
	await page.keyboard.press("ArrowRight");
	assert.notEqual(await sight(), zoomed);
	await page.keyboard.press("0");
	assert.equal(await sight(), whole);
	await page.click(".toolbar button");
	assert.notEqual(await sight(), whole);
	assert.deepEqual(said, []);
	await page.close();
});

test("the keyboard: theme, sections, other database, help", async () => {
	const { page, said } = await open(path);
	await page.keyboard.press("t");
	assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
	await page.keyboard.press("2");
	assert.equal(await page.evaluate(() => document.activeElement.id), "policies");
	await page.keyboard.press("]");
	assert.equal(await page.$eval('[role="tab"][aria-selected="true"]', (e) => e.textContent), "smooth.off");
	await drawn(page);
	assert.equal((await page.$$(".chart canvas")).length, 5);
	await page.keyboard.press("?");
	assert.equal(await page.$eval("dialog", (e) => e.open), true);
	assert.deepEqual(said, []);
	await page.close();
});

test("on paper it is light and without buttons", async () => {
	const { page } = await open(path, { theme: "dark" });
	const pdf = await page.pdf({ format: "A4" });
	assert.ok(pdf.length > 20000);
	await page.emulateMediaType("print");
	assert.equal(await page.$eval(".toolbar", (e) => getComputedStyle(e).display), "none");
	await page.close();
});

test("tables sort and search", async () => {
	const { page } = await open(path);
	const head = await page.$$("#details th button");
	await head[0].click();
	assert.equal(await page.$eval("#details th", (e) => e.getAttribute("aria-sort")), "ascending");
	await page.close();
});
