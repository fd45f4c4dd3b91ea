// The charts along the axis, with their buttons.
import { causeOf, causeVariable } from "./causes";
import { Heat, layers } from "./chart_heat";
import { type Lane, lanesChart, lanesOf } from "./chart_lanes";
import { memoryCharts } from "./chart_memory";
import { faultsChart, transfersChart } from "./chart_transfers";
import { Group } from "./charts";
import { type HeatMap, allocationLabel } from "./data";
import { h, name, origin, place, replace, section } from "./dom";
import * as format from "./format";
import { Tooltip } from "./tooltip";
import type { View } from "./view";

export interface Charts {
	sections: HTMLElement[];
	group: Group;
	remove(): void;
}

function legend(view: View): HTMLElement {
	const used = [...new Set(view.transfers.map((s) => s.cause))];
	return h("ul", { class: "legend" }, used.map((word) => h("li", { title: causeOf(word).about }, h("span", { class: "swatch", style: `background: var(--${causeVariable(word)})` }), causeOf(word).label)));
}

function toolbar(group: () => Group, shown: HTMLElement): HTMLElement {
	const button = (text: string, label: string, act: () => void) => h("button", { type: "button", "aria-label": label, title: label, click: act }, text);
	return h("div", { class: "toolbar" }, button("+", "Zoom in (+)", () => group().zoomBy(0.5)), button("−", "Zoom out (-)", () => group().zoomBy(2)), button("◀", "Earlier (left arrow)", () => group().pan(-0.25)), button("▶", "Later (right arrow)", () => group().pan(0.25)), button("All", "All of it (0, or a double click)", () => group().reset()), shown);
}

function heatControls(view: View, heat: Heat, redraw: () => void): HTMLElement {
	const maps = view.run.heatmaps.filter((map) => Object.keys(map.layers).length && view.allocation(map.allocation));
	let map = maps[0];
	let layer = "";
	const list = h("div", { class: "heat-list", role: "listbox", "aria-label": "Allocation" });
	const chips = h("div", { class: "chips", role: "group", "aria-label": "What is shown" });
	const note = h("p", { class: "soft" });

	function choose(next: HeatMap, wanted: string): void {
		map = next;
		const there = layers.filter((l) => map.layers[l.word]);
		layer = (there.find((l) => l.word === wanted) ?? there[0]).word;
		heat.show(map, layer);
		const label = layers.find((l) => l.word === layer);
		replace(chips, there.map((l) => h("button", { type: "button", class: "chip", "aria-pressed": l.word === layer ? "true" : "false", click: () => choose(map, l.word) }, l.label)));
		replace(list, maps.map((m) => {
			const of = view.allocation(m.allocation);
			return h("button", { type: "button", role: "option", "aria-selected": m === map ? "true" : "false", click: () => choose(m, layer) }, of ? name(allocationLabel(of)) : `#${m.allocation}`, h("span", { class: "soft" }, of ? [format.bytes(of.bytes), of.name && of.site ? [" · ", place(of.site)] : ""] : ""));
		}));
		replace(note, `${format.short(map.layers[layer].total / (label?.scale ?? 1))} ${label?.unit} ${label?.label}; a cell is ${format.plural(map.pages_a_row, "page")} by ${view.byTime ? format.duration(view.length / view.run.axis.columns) : format.plural(Math.max(1, Math.round(view.length / view.run.axis.columns)), "call")}; the first page is at the top, the scale is logarithmic.`);
		redraw();
	}
	choose(map, layers.map((l) => l.word).find((word) => map.layers[word]) ?? "");
	return h("div", { class: "heat-controls" }, list, h("div", {}, chips, note));
}

function timeSection(view: View, group: Group, chart: ReturnType<typeof lanesChart>, shown: HTMLElement): HTMLElement {
	const { run } = view;
	const kept = run.spans.kind.length;
	return section(
		"timeline",
		"Timeline",
		view.byTime ? ["Times are ", origin(run.axis.origin), run.axis.replayed ? ": the trace as it is, replayed by the model of its driver; the host takes no time but to wait." : run.axis.origin === "modelled" ? ": the host takes no time but to wait." : "."] : "By call, in program order: the calls of this trace have the CPU's times, which say nothing about a GPU, and what the model adds has others.",
		toolbar(() => group, shown),
		group.add(chart, "lanes"),
		run.transfers.length ? [group.add(transfersChart(view)), legend(view)] : h("p", { class: "empty" }, "Nothing crossed the link, as far as the file tells."),
		run.faults.length ? group.add(faultsChart(view)) : null,
		h("p", { class: "soft" }, "Drag to zoom, double click for all; with the keyboard: Tab to a chart, arrows, + and −, 0. ", kept < run.spans.all ? `Of ${format.count(run.spans.all)} operations the ${format.count(kept)} longest are drawn one by one; launches beyond are the shading behind, and all count.` : ""),
	);
}

export function charts(view: View): Charts {
	const lanes: Lane[] = lanesOf(view);
	const lanesOne = lanesChart(view, lanes);
	const maps = view.run.heatmaps.filter((map) => Object.keys(map.layers).length && view.allocation(map.allocation));
	const heat = maps.length ? new Heat(view) : null;
	const shown = h("span", { class: "in-sight", "aria-live": "polite" });
	const write = (from: number, to: number) => (shown.textContent = from <= 0 && to >= view.length ? `all ${view.byTime ? format.duration(view.length) : format.plural(view.length, "call")}` : `${view.at(from)} to ${view.at(to)}`);
	const tooltip: Tooltip = new Tooltip(view, lanes, lanesOne, heat, () => group);
	const group: Group = new Group(view, (x, chart, y, at) => tooltip.show(x, chart, y, at), write);
	const sections = [timeSection(view, group, lanesOne, shown)];
	const memory = memoryCharts(view);

	write(0, view.length);
	if (memory.length)
		sections.push(
			section(
				"memory",
				"Memory",
				["What of the program's data lay on a GPU, ", origin("inferred"), " from the transfers: read-mostly duplicates count until they are freed, and what was born on a GPU counts where the driver tells of it."],
				memory.map((chart) => group.add(chart)),
				h("ul", { class: "legend" }, [["memory-managed", "managed memory that moved there"], ["memory-device", "device memory"]].map(([variable, label]) => h("li", {}, h("span", { class: "swatch", style: `background: var(--${variable})` }), label))),
			),
		);
	if (heat) {
		const controls = heatControls(view, heat, () => group.redraw());
		heat.title = "Pages by time";
		sections.push(section("pages", "Pages by time", "Of the allocations with most over the link.", controls, group.add(heat, "heat")));
	}
	return { sections, group, remove: () => tooltip.remove() };
}
