// Names are anyone's: markup, quotes, ends of scripts and 4,000 characters appear as what they are.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { database, open, quoted, report, start, stop } from "./lib.mjs";

const names = {
	markup: '<img src="https://example.invalid/x.png" onerror="window.broken=1">',
	script: "</script><script>window.broken=1</script><!--",
	quotes: `"'\`\\ &lt;&#60; \${1}`,
	lines: "a\u2028b\u2029c\nd\te",
	style: "<style>*{display:none}</style>",
	other: "ядро \u{1F600} \u202Eright to left",
	long: `long_${"x".repeat(3990)}_end`,
};
const all = Object.values(names);

function rows() {
	const out = [
		`INSERT INTO run (role, tool, command, clock, end_ns, ended, exit_status, machine, driver, xnack, xnack_source) VALUES ('simulation', ${quoted(names.script)}, ${quoted(names.markup)}, 'simulated', 1000, 'exited', 0, ${quoted(names.quotes)}, ${quoted(names.markup)}, 'on', ${quoted(names.style)});`,
		`INSERT INTO device (device, name, arch, link) VALUES (0, ${quoted(names.markup)}, ${quoted(names.script)}, ${quoted(names.style)});`,
		...["op.time", "migration", "fault"].map((r) => `INSERT INTO origin (record, origin, detail) VALUES ('${r}', 'modelled', ${quoted(names.script)});`),
		`INSERT INTO loss (kind, count, detail) VALUES (${quoted(names.markup)}, 1, ${quoted(names.script)});`,
	];
	all.forEach((name, i) => {
		const op = 1 + 3 * i;
		out.push(
			`INSERT INTO site (site) VALUES (${i + 1});`,
			`INSERT INTO frame (site, depth, module, offset_bytes, function, file, line) VALUES (${i + 1}, 0, '/app', ${i + 1}, 'main', ${quoted(name)}, ${i + 1});`,
			`INSERT INTO op (op, kind, start_ns, end_ns, site) VALUES (${op}, 'alloc', ${100 * i}, ${100 * i}, ${i + 1}), (${op + 1}, 'range', ${100 * i}, ${100 * i + 90}, ${i + 1}), (${op + 2}, 'launch', ${100 * i}, ${100 * i + 80}, ${i + 1});`,
			`INSERT INTO user_range VALUES (${op + 1}, ${op + 2}, ${quoted(name)});`,
			`INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z) VALUES (${op + 2}, ${quoted(name)}, 1, 1, 1, 64, 1, 1);`,
			`INSERT INTO allocation (allocation, kind, bytes, op, site, name) VALUES (${i + 1}, 'managed', 40960, ${op}, ${i + 1}, ${quoted(name)});`,
			`INSERT INTO migration (op, allocation, first_page, pages, bytes, source, destination, cause_code, transfers, start_ns, duration_ns) VALUES (${op + 2}, ${i + 1}, 0, 10, 40960, -1, 0, 0, 1, ${100 * i}, 50);`,
		);
	});
	return out.join("\n");
}

let path;
before(async () => {
	path = report("names", database("names", rows()));
	await start();
});
after(stop);

test("the file has one end of its data, and a policy that lets nothing in", () => {
	const text = readFileSync(path, "utf8");
	const policy = text.match(/Content-Security-Policy" content="([^"]*)"/)[1];
	assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'$/);
	assert.equal(text.match(/<script/g).length, 2);
	assert.equal(text.match(/<\/script/g).length, 2);
	assert.ok(!text.includes("\u2028"));
	assert.ok(!/<(?:link|img|iframe|object|embed)\b/i.test(text.replace(/<script>[^]*<\/script>/, "")));
});

test("every name is there as text, and none as markup", async () => {
	const { page, said, asked } = await open(path);
	const shown = await page.evaluate(() => document.body.textContent);
	for (const name of all) assert.ok(shown.includes(name), `missing: ${name.slice(0, 80)}`);
	assert.equal(await page.evaluate(() => window.broken), undefined);
	assert.equal(await page.evaluate(() => document.querySelectorAll("#app img, #app script, #app style, #app iframe").length), 0);
	assert.equal(await page.evaluate(() => document.scripts.length), 2);
	assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "a long name makes the page wider than the window");
	for (const chart of await page.$$("#timeline .chart .u-over")) {
		await chart.scrollIntoView();
		const { x, y, width, height } = await chart.boundingBox();
		await page.mouse.move(x + width * 0.95, y + height / 2);
		await page.mouse.move(x + width * 0.05, y + height / 2);
	}
	assert.equal(await page.evaluate(() => window.broken), undefined);
	assert.deepEqual([said, asked], [[], []]);
	await page.close();
});

test("even a page that wants to cannot reach out", async () => {
	const { page } = await open(path);
	const reached = [];
	page.on("response", (response) => reached.push(response.url()));
	await page.evaluate(() => {
		window.refused = [];
		document.addEventListener("securitypolicyviolation", (event) => window.refused.push(event.effectiveDirective));
	});
	const why = await page.evaluate(() => fetch("https://example.invalid/").then(() => "reached", () => "refused"));
	assert.equal(why, "refused");
	const loaded = await page.evaluate(() => {
		const script = document.createElement("script");
		script.textContent = "window.broken = 1";
		document.body.appendChild(script);
		const image = new Image();
		document.body.appendChild(image);
		return new Promise((done) => {
			image.onload = () => done("loaded");
			image.onerror = () => done("refused");
			image.src = "https://example.invalid/x.png";
		});
	});
	assert.equal(loaded, "refused");
	assert.equal(await page.evaluate(() => window.broken), undefined);
	assert.deepEqual(reached, []);
	assert.deepEqual(await page.evaluate(() => window.refused.sort()), ["connect-src", "img-src", "script-src-elem"]);
	await page.close();
});
