// Several databases side by side.
import { causeOf, causeVariable, causes } from "./causes";
import { type Known, type Run, isMeasured, originOf, runKind, runTitle } from "./data";
import { h, name, origin, section } from "./dom";
import * as format from "./format";

interface Figure {
	title: string;
	of: (run: Run) => Known;
	write: (value: Known) => string;
	record: string;
}

const faults = (run: Run, of: "device" | "host"): Known => run.summary.faults[of].faults ?? run.summary.faults[of].records;
const way = (run: Run, which: "bytes_to_device" | "bytes_to_host"): Known => {
	const known = Object.entries(run.summary.traffic).filter(([cause, t]) => cause !== "total" && t[which] !== null);
	return known.length ? known.reduce((sum, [, t]) => sum + (t[which] ?? 0), 0) : null;
};

const figures: Figure[] = [
	{ title: "to the GPU", of: (run) => way(run, "bytes_to_device"), write: format.bytes, record: "migration" },
	{ title: "to the host", of: (run) => way(run, "bytes_to_host"), write: format.bytes, record: "migration" },
	{ title: "GPU faults", of: (run) => faults(run, "device"), write: format.short, record: "fault" },
	{ title: "host faults", of: (run) => faults(run, "host"), write: format.short, record: "fault" },
	{ title: "end", of: (run) => (run.axis.kind === "calls" ? null : run.axis.end - run.axis.start), write: format.duration, record: "op.time" },
];

function stackedBar(run: Run, most: number): HTMLElement {
	const parts = causes.map(({ word }) => ({ word, bytes: (run.summary.traffic[word]?.bytes_to_device ?? 0) + (run.summary.traffic[word]?.bytes_to_host ?? 0) })).filter((p) => p.bytes > 0);
	const total = parts.reduce((sum, p) => sum + p.bytes, 0);
	return h("div", { class: "stacked slim", style: `width: ${most > 0 ? (100 * total) / most : 0}%` }, parts.map((p) => h("span", { title: `${causeOf(p.word).label}: ${format.bytes(p.bytes)}`, style: `flex-grow: ${p.bytes / total}; background: var(--${causeVariable(p.word)})` })));
}

/** Only figures of one origin and one clock are set beside each other as more or less. */
function comparedWith(base: Run, run: Run, figure: Figure): string {
	const originIn = (of: Run) => (figure.record === "op.time" ? of.axis.origin : originOf(of.summary, figure.record));
	if (base === run || originIn(base) !== originIn(run)) return "";
	const [before, after] = [figure.of(base), figure.of(run)];
	return before === null || after === null ? "" : format.change(before, after);
}

export function policies(runs: Run[], show: (index: number) => void): HTMLElement {
	const most = Math.max(...runs.map((run) => (way(run, "bytes_to_device") ?? 0) + (way(run, "bytes_to_host") ?? 0)));
	const base = runs.find((run) => run.summary.run.role === "simulation") ?? runs[0];
	const command = runs[0].summary.run.command;
	const source = (run: Run) => (run.summary.run.role === "simulation" ? run.summary.run.source : null);
	const differs = runs.some((run) => run.summary.run.command !== command && source(run) === null && source(runs[0]) === null);
	const machines = new Set(runs.map((run) => run.summary.run.machine));
	return section(
		"policies",
		"Side by side",
		["More and less are beside ", name(runTitle(base)), "; figures of different origin are not set against each other."],
		differs ? h("p", { class: "alert" }, "These are not runs of the same command.") : null,
		machines.size > 1 ? h("p", { class: "alert" }, "These are of different machines: ", [...machines].map((m, i) => [i ? ", " : "", name(m ?? "not recorded")]), ".") : null,
		h(
			"div",
			{ class: "scroll", tabindex: 0, role: "region", "aria-label": "Databases side by side" },
			h(
				"table",
				{ class: "side-by-side" },
				h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, "database"), h("th", { scope: "col", class: "text" }, "driver"), figures.map((f) => h("th", { scope: "col", class: "number" }, f.title)), h("th", { scope: "col", class: "text wide" }, "over the link, by cause"))),
				h(
					"tbody",
					{},
					runs.map((run, i) =>
						h(
							"tr",
							{},
							h("th", { scope: "row", class: "text" }, h("button", { type: "button", class: "link", click: () => show(i) }, name(runTitle(run))), h("div", { class: "soft" }, runKind(run.summary))),
							h("td", { class: "text" }, isMeasured(run.summary) ? `NVIDIA ${run.summary.run.driver_version ?? ""}` : (run.summary.run.driver ?? "–"), h("div", { class: "soft" }, [run.summary.run.xnack ? `XNACK ${run.summary.run.xnack}` : null, run.summary.run.page_bytes ? format.bytes(run.summary.run.page_bytes) : null, run.summary.run.memory_bytes ? format.bytes(run.summary.run.memory_bytes) : null].filter(Boolean).join(" · "))),
							figures.map((f) => h("td", { class: "number" }, f.write(f.of(run)), h("div", { class: "soft" }, comparedWith(base, run, f)))),
							h("td", { class: "text wide" }, stackedBar(run, most), origin(originOf(run.summary, "migration"))),
						),
					),
				),
			),
		),
	);
}
