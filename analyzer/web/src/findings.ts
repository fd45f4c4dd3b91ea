// What to change: the three that help most on the first screen, all of them further down.
import type { Change, Cost, Finding, Findings } from "./data";
import { h, name, origin, place, section } from "./dom";
import * as format from "./format";

const linkBytes = (cost: Cost): number => cost.bytes_to_device + cost.bytes_to_host + cost.bytes_between_devices;

/** What measuring changes on an H200 told of predictions: traces/h200/findings. */
const timesNote = "Times are less sure than bytes: in a replay the host takes no time but to wait, so that what depends on its pace (pages that go to and fro, prefetches ahead of a launch) comes out otherwise.";

function value(unit: string, of: number | string | null): Node | string {
	if (typeof of === "string") return name(of);
	if (unit === "bytes") return format.bytes(of);
	if (unit === "ns") return format.duration(of);
	if (unit === "percent") return of === null ? "–" : `${of} %`;
	return format.count(of);
}

/** Before and after, as two bars of one scale. */
function bars(title: string, before: number, after: number, write: (value: number) => string): HTMLElement {
	const most = Math.max(before, after, 1);
	const bar = (label: string, amount: number, kind: string) =>
		h("div", { class: "ba-row" }, h("span", { class: "ba-label" }, label), h("span", { class: "ba-track" }, h("span", { class: `ba-bar ${kind}`, style: `width: ${(100 * amount) / most}%` })), h("span", { class: "ba-value" }, write(amount)));
	return h("div", { class: "before-after" }, h("div", { class: "ba-title" }, title, " ", h("b", { class: after > before ? "worse" : after < before ? "better" : "" }, format.change(before, after))), bar("before", before, "before"), bar("after", after, "after"));
}

function saving(baseline: Cost, change: Change): HTMLElement | null {
	if (!change.cost) return change.not_replayable ? h("p", { class: "soft" }, "Its saving was not replayed: ", name(change.not_replayable)) : null;
	return h("div", { class: "savings" }, bars("over the link", linkBytes(baseline), linkBytes(change.cost), format.bytes), bars("end of the run", baseline.end_ns, change.cost.end_ns, format.duration));
}

function code(text: string, what: string): HTMLElement {
	const copy = h("button", {
		type: "button",
		class: "copy",
		click: () => void navigator.clipboard?.writeText(text).then(() => {
			copy.textContent = "copied";
			setTimeout(() => (copy.textContent = "copy"), 1500);
		}),
	}, "copy");
	return h("div", { class: "code" }, h("div", { class: "code-head" }, h("span", {}, what), copy), h("pre", { tabindex: 0 }, h("code", {}, text)));
}

function where(finding: Finding): HTMLElement | null {
	const at = finding.changes[0]?.at ?? finding.at;
	return at?.text ? place(at.text) : null;
}

export function topChanges(findings: Findings): HTMLElement | null {
	const best = findings.findings.filter((f) => f.verdict === "saves" || f.verdict === "fault").slice(0, 3);
	if (!best.length) return null;
	return h(
		"div",
		{ class: "top-changes" },
		h("h3", {}, best.length === 1 ? "The change that helps" : `The ${best.length === 2 ? "two" : "three"} changes that help most`, " ", origin("modelled")),
		h(
			"ol",
			{ class: "cards" },
			best.map((finding, i) =>
				h("li", { class: `card ${finding.verdict}` }, h("a", { href: `#finding-${findings.findings.indexOf(finding)}`, class: "card-title" }, h("span", { class: "rank" }, String(i + 1)), name(finding.title)), where(finding), finding.changes[0] ? saving(findings.baseline, finding.changes[0]) : null),
			),
		),
		h("p", { class: "soft" }, "Each by itself, replayed by the driver model ", findings.driver ? name(findings.driver) : "", findings.validated ? [" (", name(findings.validated), ")"] : "", ". ", timesNote),
	);
}

function changeBox(baseline: Cost, change: Change, isFirst: boolean): HTMLElement {
	const inside = [saving(baseline, change), code(change.code, change.at?.text ? `at ${change.at.text}` : "change"), change.policy ? h("details", {}, h("summary", {}, "The same as a policy, to try it without touching the source"), code(change.policy, "policy file")) : null];
	return isFirst ? h("div", { class: "change" }, inside) : h("details", { class: "change" }, h("summary", {}, "Another way", change.at?.text ? [": ", place(change.at.text)] : "", change.cost ? ` (${format.change(baseline.end_ns, change.cost.end_ns)} time)` : ""), inside);
}

function findingBox(findings: Findings, finding: Finding, i: number): HTMLElement {
	return h(
		"article",
		{ id: `finding-${i}`, class: `finding ${finding.verdict}`, tabindex: -1 },
		h("header", {}, h("span", { class: "kind" }, finding.kind), h("h3", {}, name(finding.title)), finding.certain ? null : h("span", { class: "maybe" }, "possible"), where(finding)),
		finding.because ? h("p", {}, name(finding.because, "prose")) : null,
		h("dl", { class: "evidence" }, finding.subject ? [h("dt", {}, "of"), h("dd", {}, name(finding.subject))] : null, finding.phase ? [h("dt", {}, "phase"), h("dd", {}, name(finding.phase))] : null, finding.kernels.length ? [h("dt", {}, "kernels"), h("dd", {}, finding.kernels.slice(0, 6).map((k, n) => [n ? ", " : "", name(k)]))] : null, finding.also.length ? [h("dt", {}, "also mended"), h("dd", { class: "also" }, finding.also.join(", "))] : null, finding.evidence.map((e) => [h("dt", {}, e.label), h("dd", {}, value(e.unit, e.value), " ", origin(e.origin))])),
		finding.changes.map((change, n) => changeBox(findings.baseline, change, n === 0)),
	);
}

export function findingsSection(findings: Findings): HTMLElement {
	const all = findings.findings;
	const open = all.filter((f) => f.verdict !== "folded");
	const folded = all.filter((f) => f.verdict === "folded");
	const box = (finding: Finding) => findingBox(findings, finding, all.indexOf(finding));
	return section(
		"findings",
		"What to change",
		all.length ? ["Savings are ", origin("modelled"), ": the trace replayed with that change alone, beside a replay without it. ", timesNote] : null,
		all.length ? null : h("p", { class: "empty" }, findings.not_replayable ? name(findings.not_replayable) : "Nothing was found that a change of advice, prefetch or allocation would mend."),
		findings.rules_left_out ? h("p", { class: "soft" }, `${format.plural(findings.rules_left_out, "kind")} of findings not looked for: `, name(findings.left_out_why ?? "")) : null,
		open.map(box),
		folded.length ? h("details", {}, h("summary", {}, `${format.plural(folded.length, "more finding")} below 1 %`), folded.map(box)) : null,
	);
}

export function findingsMissing(why: string): HTMLElement {
	return section("findings", "What to change", null, h("p", { class: "empty" }, "Nothing could be looked for: ", name(why, "prose"), "."));
}
