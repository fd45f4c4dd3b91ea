// What the page is given: ../README.md documents it. null is "not known", never "none".

export type Known = number | null;

export interface Traffic {
	bytes_to_device: Known;
	bytes_to_host: Known;
	transfers: Known;
	requests: Known;
}

export interface FaultTotals {
	faults: Known;
	pages: Known;
	batches: Known;
	records: Known;
}

export interface Kernel {
	name: string;
	first_op: number;
	launches: number;
	recorded: Known;
	duration_ns: Known;
	shortest_ns: Known;
	longest_ns: Known;
	faults: Known;
	migrated_to_device_bytes: Known;
	migrated_to_host_bytes: Known;
	remote_to_device_bytes: Known;
	remote_to_host_bytes: Known;
	remote_mappings: Known;
	reads: Known;
	writes: Known;
	atomics: Known;
	requests: Known;
}

export interface Allocation {
	allocation: number;
	name: string | null;
	site: string | null;
	function: string | null;
	kind: string;
	bytes: number;
	touched_bytes: Known;
	device_faults: Known;
	host_faults: Known;
	migrated_to_device_bytes: Known;
	migrated_to_host_bytes: Known;
	evicted_bytes: Known;
	remote_to_device_bytes: Known;
	remote_to_host_bytes: Known;
	copied_to_device_bytes: Known;
	copied_to_host_bytes: Known;
	remote_mappings: Known;
	host_touched_pages: Known;
	parts: Allocation[];
}

export interface Phase {
	name: string;
	times: number;
	duration_ns: Known;
	launches: Known;
	launch_ns: Known;
	device_faults: Known;
	host_faults: Known;
	migrated_to_device_bytes: Known;
	migrated_to_host_bytes: Known;
}

export interface Device {
	device: number;
	name: string;
	arch: string | null;
	memory_bytes: Known;
	link: string | null;
	link_to_device_bytes_per_s: Known;
	link_to_host_bytes_per_s: Known;
}

export interface Summary {
	path: string;
	xnack: string | null;
	/** From device to device over links between them; accessed in place. */
	peer_copied_bytes: Known;
	peer_remote_bytes: Known;
	run: {
		role: string;
		tool: string;
		command: string;
		source: string | null;
		backend: string | null;
		runtime: string | null;
		host: string | null;
		started: string | null;
		ended: string;
		machine: string | null;
		driver: string | null;
		driver_version: string | null;
		xnack: string | null;
		page_bytes: Known;
		memory_bytes: Known;
		policy: string | null;
		end_ns: Known;
	};
	devices: Device[];
	origins: { record: string; origin: string; clock: string; detail: string | null }[];
	traffic: Record<string, Traffic>;
	faults: { device: FaultTotals; host: FaultTotals };
	ranges: Phase[];
	driver_events: { kind: string; reason: string | null; count: Known; duration_ns: Known }[];
	bounds: { quantity: string; page_bytes: Known; least: number; simulated: Known }[];
	kernels: Kernel[];
	allocations: Allocation[];
	losses: { op: Known; kind: string; count: number; detail: string | null }[];
	folded: Record<string, number>;
}

export interface Series {
	direction: "to_device" | "to_host" | "between_devices";
	cause: string;
	total: number;
	bins: number[];
}

export interface HeatMap {
	allocation: number;
	pages: number;
	pages_a_row: number;
	rows: number;
	layers: Record<string, { total: number; cells: number[] }>;
}

type SpanColumn = "kind" | "start" | "end" | "op" | "stream" | "device" | "thread" | "kernel" | "allocation" | "bytes" | "detail" | "site";

export interface Run {
	summary: Summary;
	head: [string, string][];
	axis: { kind: "time" | "calls"; start: number; end: number; bins: number; columns: number; empty: boolean; replayed: boolean; origin: string | null };
	transfers: Series[];
	faults: { of: "device" | "host"; total: number; bins: number[] }[];
	foremost: { allocations: number[]; bytes: number[]; faults: number[] };
	launches: { total: number; count: number[]; busy: number[] };
	spans: Record<SpanColumn, number[]> & { texts: string[]; all: number };
	occupancy: {
		devices: { device: number; most_managed_bytes: number; most_allocated_bytes: number; most_bytes: number; managed: number[]; allocated: number[] }[];
		not_followed: number;
	};
	heatmaps: HeatMap[];
	unplaced: number;
	unknown_transfers: number;
}

export interface Report {
	schema: number;
	tool: string;
	created: string;
	runs: Run[];
	findings: Findings | null;
	findings_missing: string | null;
}

export interface Cost {
	bytes_to_device: number;
	bytes_to_host: number;
	bytes_between_devices: number;
	device_faults: number;
	host_faults: number;
	end_ns: number;
}

export interface Place {
	text: string | null;
	function: string | null;
}

export interface Change {
	at: Place | null;
	code: string;
	policy: string | null;
	not_replayable: string | null;
	cost: Cost | null;
	saved_ns: Known;
	saved_bytes: Known;
}

export interface Finding {
	kind: string;
	/** Kinds of others that the same change mends. */
	also: string[];
	title: string;
	because: string | null;
	certain: boolean;
	verdict: "saves" | "folded" | "fault" | "not_replayed";
	at: Place | null;
	subject: string | null;
	allocations: number[];
	kernels: string[];
	phase: string | null;
	evidence: { label: string; unit: "count" | "bytes" | "ns" | "percent" | "text"; value: number | string | null; origin: string | null }[];
	changes: Change[];
}

export interface Findings {
	findings: Finding[];
	baseline: Cost;
	baseline_origin: string;
	driver: string | null;
	validated: string | null;
	not_replayable: string | null;
	shown: number;
	dropped: number;
	not_tried: number;
	rules_left_out: number;
	left_out_why: string | null;
}

/** [gap, amount, ...] as an array of `count`. */
export function unpackBins(packed: number[], count: number): Float64Array {
	const bins = new Float64Array(count);
	let at = 0;
	for (let i = 0; i + 1 < packed.length; i += 2) {
		at += packed[i];
		if (at < count) bins[at] = packed[i + 1];
	}
	return bins;
}

/** [times, value, ...] as an array of `count`. */
export function unpackRepeats(packed: number[], count: number): Float64Array {
	const values = new Float64Array(count);
	let at = 0;
	for (let i = 0; i + 1 < packed.length; i += 2) {
		values.fill(packed[i + 1], at, Math.min(count, at + packed[i]));
		at += packed[i];
	}
	return values;
}

/** The origin of a kind of record; null where the file does not say. */
export function originOf(summary: Summary, record: string): string | null {
	return summary.origins.find((o) => o.record === record)?.origin ?? null;
}

export function isMeasured(summary: Summary): boolean {
	return originOf(summary, "migration") === "measured";
}

/** "policy" of a simulation by its file's name; else what kind of run it is. */
export function runTitle(run: Run): string {
	const file = run.summary.path.replace(/^.*\//, "").replace(/\.um\.db$/, "");
	return file || run.summary.path;
}

export function runKind(summary: Summary): string {
	if (summary.run.role === "simulation") return "simulation";
	return isMeasured(summary) ? "measured" : "trace";
}

export function allocationLabel(of: Allocation): string {
	return `#${of.allocation}` + (of.name ? ` ${of.name}` : of.site ? ` ${of.site.replace(/^.*\//, "")}` : "");
}
