// Where the figures come from: the lines that `umanalyze summary` begins with, and what the file lacks.
import type { Report, Run } from "./data";
import { h, name, section } from "./dom";
import * as format from "./format";

export function about(report: Report, run: Run): HTMLElement {
	const lines: HTMLElement[] = [];
	for (const [label, text] of run.head) lines.push(h("dt", {}, label), h("dd", {}, name(text, "prose")));
	const { losses } = run.summary;
	return section(
		"about",
		"Where the figures come from",
		"As umanalyze summary says it of this file.",
		h("dl", { class: "head-lines" }, lines),
		h("h3", {}, "What the file lacks"),
		losses.length ? h("ul", { class: "losses" }, losses.slice(0, 40).map((l) => h("li", {}, h("b", {}, l.kind), `: ${format.count(l.count)}`, l.op ? ` in op ${l.op}` : "", l.detail ? [", ", name(l.detail, "prose")] : ""))) : h("p", {}, run.summary.run.ended === "running" ? "None is noted, but the file ends early." : "Nothing: everything that was asked for is in it."),
		losses.length > 40 || run.summary.folded.losses ? h("p", { class: "soft" }, "More are not shown: umanalyze summary has them.") : null,
		run.unplaced || run.unknown_transfers ? h("p", { class: "soft" }, [run.unplaced ? `${format.plural(run.unplaced, "row")} could not be placed on the charts' axis. ` : "", run.unknown_transfers ? `Of ${format.plural(run.unknown_transfers, "transfer")} the file does not know the bytes; the charts are without them.` : ""]) : null,
		h("p", { class: "soft" }, `Made by ${report.tool}, ${report.created.replace("T", " ").replace("Z", " UTC")}, from `, name(run.summary.path), ". This page has everything in it and asks the network for nothing."),
	);
}
