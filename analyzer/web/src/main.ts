import { about } from "./about";
import { type Report, runKind, runTitle } from "./data";
import { details } from "./details";
import { h, name, replace } from "./dom";
import { findingsMissing, findingsSection, topChanges } from "./findings";
import { go, keys } from "./keys";
import { overview } from "./overview";
import { policies } from "./policies";
import * as theme from "./theme";
import { type Charts, charts } from "./timeline";
import { View } from "./view";

const report = JSON.parse(document.getElementById("data")?.textContent ?? "") as Report;
const views: View[] = [];
const main = h("main", {});
const nav = h("nav", { "aria-label": "Sections" });
const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Databases" });
let shown = 0;
let current: Charts | null = null;

/** Everything of one database; what all of them have beside is on each. */
function show(index: number): void {
	const run = report.runs[index];
	const findings = index === 0 ? report.findings : null;
	current?.remove();
	shown = index;
	views[index] ??= new View(run);
	const drawn = run.axis.empty ? null : charts(views[index]);
	current = drawn;
	replace(
		main,
		overview(run, findings ? topChanges(findings) : null),
		report.runs.length > 1 ? policies(report.runs, show) : null,
		drawn?.sections ?? null,
		findings ? findingsSection(findings) : index === 0 && report.findings_missing ? findingsMissing(report.findings_missing) : null,
		details(run),
		about(report, run),
	);
	replace(nav, [...main.querySelectorAll<HTMLElement>("section")].map((section, i) => h("a", { href: `#${section.id}`, click: (event: Event) => (event.preventDefault(), go(section)) }, h("span", { class: "key" }, String(i + 1)), section.querySelector("h2")?.textContent ?? "")));
	replace(tabs, report.runs.length > 1 ? report.runs.map((of, i) => h("button", { type: "button", role: "tab", "aria-selected": i === index ? "true" : "false", click: () => show(i) }, name(runTitle(of)))) : null);
	document.title = `${runTitle(run)} – umtrace report`;
}

function start(): void {
	const { summary } = report.runs[0];
	const isSimulation = summary.run.role === "simulation";
	const help = keys((by) => show((shown + by + report.runs.length) % report.runs.length));
	const themeButton = h("button", { type: "button", class: "icon", "aria-label": "Light or dark (t)", title: "Light or dark (t)", click: theme.toggle }, "◐");
	const helpButton = h("button", { type: "button", class: "icon", "aria-label": "Keyboard (?)", title: "Keyboard (?)", click: () => help.showModal() }, "?");
	replace(
		document.getElementById("app") as HTMLElement,
		h("header", { class: "page-head" }, h("div", { class: "title" }, h("span", { class: "mark" }, "umtrace"), h("span", { class: `badge ${runKind(summary)}` }, runKind(summary)), h("h1", {}, name(isSimulation ? runTitle(report.runs[0]) : summary.run.command, "command")), isSimulation ? h("span", { class: "soft" }, "of ", name(summary.run.command)) : null), tabs, h("div", { class: "icons" }, helpButton, themeButton)),
		nav,
		main,
		help,
	);
	theme.watch();
	show(0);
	let pending = 0;
	addEventListener("resize", () => {
		cancelAnimationFrame(pending);
		pending = requestAnimationFrame(() => current?.group.resize());
	});
	document.documentElement.dataset.ready = "true";
}

start();
