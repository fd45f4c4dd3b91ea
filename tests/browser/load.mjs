// How long a browser takes to show a report: node load.mjs PAGE. From the beginning of the navigation, until the
// script is through and until the frame after the charts were drawn; then what one step of zooming takes. The quickest of
// five; beside it the processor time of the page's main thread, which other programs' load does not lengthen.
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const browser = await puppeteer.launch({ executablePath: process.env.UM_CHROMIUM ?? "/usr/bin/chromium", headless: true, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const runs = [];
for (let i = 0; i < 5; i++) {
	const page = await browser.newPage();
	await page.setViewport({ width: 1400, height: 900 });
	const session = await page.createCDPSession();
	await session.send("Performance.enable", { timeDomain: "threadTicks" });
	const cpu = async () => 1000 * (await session.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value;
	await page.goto(pathToFileURL(process.argv[2]).href);
	await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
	await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
	const loaded = await cpu();
	const times = await page.evaluate(async () => {
		const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))));
		const drawn = await frames();
		const script = performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd;
		const button = document.querySelector(".toolbar button");
		const before = performance.now();
		button.click();
		await frames();
		return { script, drawn, zoom: performance.now() - before };
	});
	runs.push({ ...times, load_cpu: loaded, zoom_cpu: (await cpu()) - loaded });
	await page.close();
}
await browser.close();
const least = (what) => Math.min(...runs.map((run) => run[what])).toFixed(0);
console.log(`in Chromium: script through after ${least("script")} ms, charts drawn after ${least("drawn")} ms (${least("load_cpu")} ms of a processor), a step of zoom ${least("zoom")} ms (${least("zoom_cpu")} ms)`);
