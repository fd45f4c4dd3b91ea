// The tables: allocations, kernels, phases.
import { type Allocation, type Kernel, type Phase, type Run, originOf } from "./data";
import { h, name, origin, place, section } from "./dom";
import * as format from "./format";
import { type Column, table } from "./tables";

const bytes = <Row>(title: string, about: string, value: (row: Row) => number | null): Column<Row> => ({ title, about, value, show: (row) => format.bytes(value(row)), bar: true });
const count = <Row>(title: string, about: string, value: (row: Row) => number | null): Column<Row> => ({ title, about, value, show: (row) => format.short(value(row)) });
const time = <Row>(title: string, about: string, value: (row: Row) => number | null): Column<Row> => ({ title, about, value, show: (row) => format.duration(value(row)), bar: true });

function allocationName(of: Allocation): HTMLElement {
	return h("span", {}, h("span", { class: "id" }, `#${of.allocation} `), of.name ? name(of.name) : "", of.parts.length ? h("span", { class: "parts" }, of.parts.slice(0, 6).map((p) => [" › ", name(p.name ?? "rest")])) : null);
}

const allocationColumns: Column<Allocation>[] = [
	{ title: "allocation", isText: true, value: (of) => `#${of.allocation} ${of.name ?? ""} ${of.parts.map((p) => p.name).join(" ")}`, show: allocationName },
	{ title: "line", isText: true, value: (of) => of.site, show: (of) => (of.site ? place(of.site) : "–") },
	{ title: "kind", isText: true, value: (of) => of.kind },
	bytes("size", "as asked for", (of) => of.bytes),
	bytes("touched", "whole pages of 4 KiB that anything touched", (of) => of.touched_bytes),
	count("GPU faults", "page faults of devices", (of) => of.device_faults),
	count("host faults", "page faults of the host", (of) => of.host_faults),
	bytes("moved in", "pages that migrated to a GPU", (of) => of.migrated_to_device_bytes),
	bytes("moved out", "pages that migrated to the host", (of) => of.migrated_to_host_bytes),
	bytes("evicted", "of moved out, to make room", (of) => of.evicted_bytes),
	bytes("remote in", "lines read in place over the link", (of) => of.remote_to_device_bytes),
	bytes("remote out", "lines written in place over the link", (of) => of.remote_to_host_bytes),
	bytes("copied in", "explicit copies to it", (of) => of.copied_to_device_bytes),
	bytes("copied out", "explicit copies from it", (of) => of.copied_to_host_bytes),
	count("host pages", "that the host touched between device operations, every time anew", (of) => of.host_touched_pages),
];

const kernelColumns = (timeTitle: string): Column<Kernel>[] => [
	{ title: "kernel", isText: true, value: (of) => of.name },
	count("launches", "", (of) => of.launches),
	time(timeTitle, "of all launches together", (of) => of.duration_ns),
	count("faults", "page faults of devices", (of) => of.faults),
	bytes("moved in", "pages that migrated to a GPU", (of) => of.migrated_to_device_bytes),
	bytes("moved out", "pages that migrated to the host", (of) => of.migrated_to_host_bytes),
	bytes("remote in", "lines read in place over the link", (of) => of.remote_to_device_bytes),
	bytes("remote out", "lines written in place over the link", (of) => of.remote_to_host_bytes),
	count("remote maps", "mappings of memory elsewhere", (of) => of.remote_mappings),
	count("reads", "by lanes", (of) => of.reads),
	count("writes", "by lanes", (of) => of.writes),
	count("atomics", "by lanes", (of) => of.atomics),
	count("requests", "what is left of reads and writes once a wave's neighbours are served together", (of) => of.requests),
];

const phaseColumns: Column<Phase>[] = [
	{ title: "phase", isText: true, value: (of) => of.name },
	count("times", "", (of) => of.times),
	time("time", "added up", (of) => of.duration_ns),
	count("launches", "called within", (of) => of.launches),
	time("kernels", "time of these launches", (of) => of.launch_ns),
	count("GPU faults", "", (of) => of.device_faults),
	count("host faults", "", (of) => of.host_faults),
	bytes("moved in", "pages that migrated to a GPU", (of) => of.migrated_to_device_bytes),
	bytes("moved out", "pages that migrated to the host", (of) => of.migrated_to_host_bytes),
];

export function details(run: Run): HTMLElement {
	const { summary } = run;
	const times = originOf(summary, "op.time");
	const moved = originOf(summary, "migration");
	return section(
		"details",
		"Who and where",
		["What moved is ", origin(moved), ", times are ", origin(times), times === "emulated" ? ": the CPU's that played the GPU, which say nothing about one." : "."],
		table("Allocations", summary.allocations, allocationColumns, summary.folded.allocations),
		table("Kernels", summary.kernels, kernelColumns(times === "measured" ? "GPU time" : times === "modelled" ? "time (model)" : "CPU time"), summary.folded.kernels),
		summary.ranges.length ? table("Phases", summary.ranges, phaseColumns, summary.folded.ranges) : null,
	);
}
