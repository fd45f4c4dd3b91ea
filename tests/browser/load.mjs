// How long a browser takes to show a report: node load.mjs PAGE. From the beginning of the navigation, until the
// script is through and until the frame after the charts were drawn; then what one step of zooming takes. The quickest of five.
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const browser = await puppeteer.launch({ executablePath: process.env.UM_CHROMIUM ?? "/usr/bin/chromium", headless: true, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const runs = [];
for (let i = 0; i < 5; i++) {
	const page = await browser.newPage();
	await page.setViewport({ width: 1400, height: 900 });
	await page.goto(pathToFileURL(process.argv[2]).href);
	await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
	runs.push(
		await page.evaluate(async () => {
			const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))));
			const drawn = await frames();
			const script = performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd;
			const button = document.querySelector(".toolbar button");
			const before = performance.now();
			button.click();
			await frames();
			return { script, drawn, zoom: performance.now() - before };
		}),
	);
	await page.close();
}
await browser.close();
const least = (what) => Math.min(...runs.map((run) => run[what])).toFixed(0);
console.log(`in Chromium: script through after ${least("script")} ms, charts drawn after ${least("drawn")} ms, a step of zoom ${least("zoom")} ms`);
