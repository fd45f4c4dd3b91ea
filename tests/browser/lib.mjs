// For the tests in this folder: databases made with sqlite3 from the schema, their reports, and a browser that
// notes whatever a report says or asks for.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const { UM_BUILD, UM_SOURCE, UM_CHROMIUM } = process.env;
if (!UM_BUILD || !UM_SOURCE || !UM_CHROMIUM) throw new Error("UM_BUILD, UM_SOURCE and UM_CHROMIUM: see CMakeLists.txt");

export const scratch = mkdtempSync(join(tmpdir(), "um-browser-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

export const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

/** A database of these rows; returns its path. */
export function database(name, rows) {
	const path = join(scratch, `${name}.um.db`);
	const schema = readFileSync(join(UM_SOURCE, "trace/db/schema.sql"), "utf8");
	execFileSync("sqlite3", [path], { input: `${schema}\nBEGIN;\n${rows}\nCOMMIT;\n`, maxBuffer: 1 << 28 });
	return path;
}

/** The report of these databases; returns its path. */
export function report(name, ...paths) {
	const page = join(scratch, `${name}.html`);
	execFileSync(join(UM_BUILD, "bin/umanalyze"), ["report", "--quiet", "--force", "-o", page, ...paths]);
	return page;
}

let browser;
export async function start() {
	browser = await puppeteer.launch({ executablePath: UM_CHROMIUM, headless: true, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
	return browser;
}

export async function stop() {
	await browser?.close();
}

/** Opens a report. `said` is what reached the console, `asked` what it tried to load: both are to stay empty. */
export async function open(path, { theme = "light", width = 1400, height = 900 } = {}) {
	const page = await browser.newPage();
	const said = [];
	const asked = [];
	await page.setViewport({ width, height });
	await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
	page.on("console", (message) => said.push(message.text()));
	page.on("pageerror", (error) => said.push(String(error)));
	page.on("request", (request) => request.url() !== pathToFileURL(path).href && asked.push(request.url()));
	await page.goto(pathToFileURL(path).href);
	await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
	await drawn(page);
	return { page, said, asked };
}

/** Two frames: charts are made in the first. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Where an element is in the window, once it is in sight. */
export async function boxOf(page, selector) {
	const element = await page.$(selector);
	await element.scrollIntoView();
	return element.boundingBox();
}

/** How many colours a canvas shows, and the share of its pixels that are not its most frequent colour. */
export const inkOf = (canvas) =>
	canvas.evaluate((element) => {
		const { data } = element.getContext("2d").getImageData(0, 0, element.width, element.height);
		const colours = new Map();
		for (let i = 0; i < data.length; i += 4) {
			const key = (data[i] << 24) | (data[i + 1] << 16) | (data[i + 2] << 8) | data[i + 3];
			colours.set(key, (colours.get(key) ?? 0) + 1);
		}
		const most = Math.max(...colours.values());
		return { colours: colours.size, share: 1 - most / (data.length / 4) };
	});

/** A screenshot into UM_SCREENSHOTS, where someone wants to look. */
export async function keep(page, name) {
	if (process.env.UM_SCREENSHOTS) writeFileSync(join(process.env.UM_SCREENSHOTS, `${name}.png`), await page.screenshot({ fullPage: true }));
}
