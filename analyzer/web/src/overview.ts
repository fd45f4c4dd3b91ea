// The first screen: what this run cost, and why.
import { causeOf, causeVariable, causes } from "./causes";
import { type Allocation, type Known, type Run, isMeasured, originOf } from "./data";
import { h, name, origin, place, section } from "./dom";
import * as format from "./format";

const add = (...values: Known[]): number => values.reduce<number>((total, value) => total + (value ?? 0), 0);

export function linkBytes(of: Allocation): number {
	return add(of.migrated_to_device_bytes, of.migrated_to_host_bytes, of.remote_to_device_bytes, of.remote_to_host_bytes, of.copied_to_device_bytes, of.copied_to_host_bytes);
}

function tile(title: string, value: string, about: (Node | string | null)[], from: string | null): HTMLElement {
	return h("div", { class: "tile" }, h("div", { class: "tile-title" }, title), h("div", { class: "tile-value" }, value), h("div", { class: "tile-about" }, about), origin(from));
}

/** Total over the causes of which it is known. */
function total(run: Run, way: "bytes_to_device" | "bytes_to_host"): Known {
	const { traffic } = run.summary;
	if (traffic.total[way] !== null) return traffic.total[way];
	const known = Object.entries(traffic).filter(([cause, of]) => cause !== "total" && of[way] !== null);
	return known.length ? add(...known.map(([, of]) => of[way])) : null;
}

function byCause(run: Run): { cause: string; bytes: number }[] {
	return causes
		.map(({ word }) => ({ cause: word, bytes: add(run.summary.traffic[word]?.bytes_to_device ?? 0, run.summary.traffic[word]?.bytes_to_host ?? 0) }))
		.filter((entry) => entry.bytes > 0);
}

function causeBar(entries: { cause: string; bytes: number }[]): HTMLElement {
	const all = add(...entries.map((e) => e.bytes));
	const sorted = [...entries].sort((a, b) => b.bytes - a.bytes);
	return h(
		"div",
		{ class: "why-bar" },
		h("div", { class: "stacked", role: "img", "aria-label": "Bytes over the link by cause" }, sorted.map((e) => h("span", { title: `${causeOf(e.cause).label}: ${format.bytes(e.bytes)}`, style: `flex-grow: ${e.bytes / all}; background: var(--${causeVariable(e.cause)})` }))),
		h("ul", { class: "legend" }, sorted.map((e) => h("li", { title: causeOf(e.cause).about }, h("span", { class: "swatch", style: `background: var(--${causeVariable(e.cause)})` }), causeOf(e.cause).label, " ", h("b", {}, format.bytes(e.bytes)), " ", h("span", { class: "soft" }, format.percent(e.bytes, all))))),
	);
}

/** Allocations by the line that made them, the heaviest first. */
function byLine(allocations: Allocation[]): { label: Node; bytes: number; count: number }[] {
	const groups = new Map<string, Allocation[]>();
	for (const of of allocations) {
		if (!linkBytes(of)) continue;
		const key = of.site ?? `#${of.allocation}`;
		groups.set(key, [...(groups.get(key) ?? []), of]);
	}
	return [...groups.values()]
		.map((group) => {
			const [first] = group;
			const label = h("span", {}, group.length === 1 ? name(first.name ?? `#${first.allocation}`, "strong") : null, group.length === 1 && first.site ? " of " : null, first.site ? place(first.site) : null);
			return { label, bytes: add(...group.map(linkBytes)), count: group.length };
		})
		.sort((a, b) => b.bytes - a.bytes);
}

function sentences(run: Run): Node[] {
	const entries = byCause(run).sort((a, b) => b.bytes - a.bytes);
	const all = add(...entries.map((e) => e.bytes));
	const out: Node[] = [];
	if (all) {
		const first = entries[0];
		out.push(h("p", {}, h("b", {}, format.bytes(all)), " crossed the link, ", entries.length === 1 ? "all of it by " : `${format.percent(first.bytes, all)} of it by `, h("b", {}, causeOf(first.cause).label), `: ${causeOf(first.cause).about}.`));
	} else out.push(h("p", {}, "Nothing crossed the link, as far as the file tells."));
	const heavy = byLine(run.summary.allocations).slice(0, 3);
	if (heavy.length && all) {
		out.push(
			h("p", {}, heavy.length === 1 ? "It is of " : "Foremost of it: ", heavy.map((of, i) => [i ? (i === heavy.length - 1 ? " and " : ", ") : "", of.count > 1 ? `${format.count(of.count)} allocations of ` : "", of.label, " ", h("span", { class: "soft" }, format.percent(of.bytes, all))]), "."),
		);
	}
	const waited = run.summary.driver_events.filter((e) => e.kind === "queue_eviction" && (e.duration_ns ?? 0) > 0);
	if (waited.length) out.push(h("p", {}, "The driver stopped the queues ", h("b", {}, format.plural(add(...waited.map((e) => e.count)), "time")), `, for ${format.duration(add(...waited.map((e) => e.duration_ns)))} in all.`));
	return out;
}

function faultTile(run: Run, of: "device" | "host"): HTMLElement {
	const totals = run.summary.faults[of];
	const number = totals.faults ?? totals.records;
	const from = (of === "host" ? originOf(run.summary, "fault.host") : null) ?? originOf(run.summary, "fault");
	return tile(of === "device" ? "GPU page faults" : "host page faults", format.short(number), [totals.batches ? `in ${format.plural(totals.batches, "batch", "batches")}` : totals.faults === null && number !== null ? "records of the driver" : ""], number === null ? "absent" : from);
}

/** From GPU to GPU, which crosses no link to the host; null: nothing does. */
function peerTile(run: Run): HTMLElement | null {
	const { peer_copied_bytes: copied, peer_remote_bytes: accessed } = run.summary;
	const moved = add(...run.transfers.filter((s) => s.direction === "between_devices").map((s) => s.total));
	if (!add(moved, copied, accessed)) return null;
	const parts = [
		{ bytes: moved, word: "moved" },
		{ bytes: copied, word: "copied" },
		{ bytes: accessed, word: "accessed in place" },
	].filter((part) => part.bytes);
	return tile("between GPUs", format.bytes(add(moved, copied, accessed)), [parts.map((part) => `${format.bytes(part.bytes)} ${part.word}`).join(", ")], originOf(run.summary, "peer_traffic") ?? originOf(run.summary, "migration"));
}

function timeTile(run: Run): HTMLElement {
	const { summary, axis } = run;
	const kernels = add(...summary.kernels.map((k) => k.duration_ns));
	const times = originOf(summary, "op.time");
	if (axis.replayed) return tile("end of the run", format.duration(axis.end - axis.start), ["replayed by the model; the host takes no time but to wait"], "modelled");
	if (times === "emulated" || axis.kind === "calls") return tile("time", "–", ["the CPU played the GPU: umsim replay models times"], times);
	return tile(isMeasured(summary) ? "GPU in kernels" : "end of the run", format.duration(isMeasured(summary) ? kernels : axis.end - axis.start), [isMeasured(summary) ? `of ${format.duration(axis.end - axis.start)} shown` : `kernels ${format.duration(kernels)}`], times);
}

/** What the model of the driver has been checked against, in the file's own words. */
function checked(run: Run): string | null {
	if (isMeasured(run.summary)) return run.summary.run.runtime ? `seen through ${run.summary.run.runtime}` : null;
	const row = run.summary.origins.find((o) => o.record === "migration" || o.record === "fault");
	return row?.detail ?? null;
}

export function facts(run: Run): HTMLElement {
	const { run: of, devices, xnack } = run.summary;
	const device = devices[0];
	const isOff = of.xnack === "off";
	const checkedBy = checked(run);
	return h(
		"div",
		{ class: "facts" },
		xnack ? h("div", { class: `fact ${isOff ? "warn" : ""}` }, h("span", { class: "fact-key" }, "XNACK"), h("span", {}, xnack.replace(/^XNACK /, ""))) : null,
		h("div", { class: "fact" }, h("span", { class: "fact-key" }, "Driver"), h("span", {}, isMeasured(run.summary) ? `NVIDIA ${of.driver_version ?? "(version not told)"}` : `${of.driver ?? "not recorded"}${of.driver ? ", a model" : ""}`, of.page_bytes ? `, pages of ${format.bytes(of.page_bytes)}` : "", checkedBy ? h("span", { class: "soft" }, ` · ${checkedBy}`) : null)),
		h("div", { class: "fact" }, h("span", { class: "fact-key" }, "Machine"), h("span", {}, of.machine ? `${of.machine}: ` : "", device ? name([device.name, device.arch ? `(${device.arch})` : "", device.link].filter(Boolean).join(" ")) : "not recorded", of.memory_bytes ? `, ${format.bytes(of.memory_bytes)} for the program` : "")),
	);
}

export function overview(run: Run, changes: HTMLElement | null): HTMLElement {
	const { summary } = run;
	const moved = originOf(summary, "migration") ?? originOf(summary, "remote_access");
	const root = section("overview", "What this run cost, and why", null);
	const least = (quantity: string) => summary.bounds.find((b) => b.quantity === quantity && b.simulated !== null);
	const over = (quantity: string) => {
		const bound = least(quantity);
		return bound ? `at least ${format.bytes(bound.least)}, whatever the policy` : "";
	};
	root.append(
		facts(run),
		h("div", { class: "tiles" }, tile("to the GPU", format.bytes(total(run, "bytes_to_device")), [over("bytes_to_device")], moved), tile("to the host", format.bytes(total(run, "bytes_to_host")), [over("bytes_to_host")], moved), peerTile(run), faultTile(run, "device"), faultTile(run, "host"), timeTile(run)),
		h("div", { class: "why" }, h("div", { class: "why-words" }, ...sentences(run)), causeBar(byCause(run))),
	);
	if (summary.run.ended === "running") root.append(h("p", { class: "alert" }, "The file ends early: its writer was stopped, or still runs. Everything here is up to there."));
	if (changes) root.append(changes);
	return root;
}
