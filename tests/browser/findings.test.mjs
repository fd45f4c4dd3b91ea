// The findings of a trace, as the page has them: where, why, what to write, what that saves, what else it mends.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { keep, open, report, start, stop } from "./lib.mjs";

let path;
before(async () => {
	path = report("over_fetch", `${process.env.UM_SOURCE}/traces/h200/findings/accesses/over_fetch.faulty.um.db`);
	await start();
});
after(stop);

const boxes = (page) =>
	page.$$eval("article.finding", (all) =>
		all.map((box) => ({
			kind: box.querySelector(".kind").innerText,
			text: box.textContent,
			also: box.querySelector(".also")?.innerText ?? "",
			code: [...box.querySelectorAll("pre, code")].map((e) => e.textContent).join("\n"),
		})),
	);

for (const theme of ["light", "dark"])
	test(`${theme}: findings with their line, their code and what else the change mends`, async () => {
		const { page, said, asked } = await open(path, { theme });
		const all = await boxes(page);
		const found = all.find((box) => box.kind === "over-fetch");
		assert.ok(found, `no over-fetch: ${all.map((box) => box.kind)}`);
		assert.equal(found.also, "host-preferred");
		for (const part of ["over_fetch.hip:18", "gather", "modelled", "emulated"]) assert.ok(found.text.includes(part), `${part} is not in: ${found.text}`);
		assert.match(found.code, /hipMemAdvise\(p, 2097152, hipMemAdviseSetPreferredLocation, hipCpuDeviceId\);/);
		assert.match(found.code, /preferred_location: host/);
		assert.equal((await page.$$(".also")).length, all.filter((box) => box.also).length);
		await page.$eval("#findings", (e) => e.scrollIntoView());
		await keep(page, `findings-${theme}`);
		assert.deepEqual([said, asked], [[], []]);
		await page.close();
	});
