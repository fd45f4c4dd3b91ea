// One database as the charts draw it: its axis in numbers from 0, bins unpacked once.
import { type Allocation, type Kernel, type Run, allocationLabel, unpackBins, unpackRepeats } from "./data";
import * as format from "./format";

export interface Span {
	kind: string;
	start: number;
	end: number;
	op: number;
	stream: number;
	device: number;
	thread: number;
	kernel: Kernel | null;
	allocation: Allocation | null;
	bytes: number | null;
	detail: string | null;
	site: string | null;
}

export class View {
	readonly run: Run;
	readonly length: number; // of the axis, in ns or calls
	readonly byTime: boolean;
	readonly bins: number;
	readonly binWidth: number;
	readonly transfers: { direction: string; cause: string; total: number; bins: Float64Array }[];
	readonly faults: { of: string; total: number; bins: Float64Array }[];
	readonly launches: Float64Array;
	readonly busy: Float64Array;
	readonly spans: Span[];
	private readonly allocations = new Map<number, Allocation>();
	private readonly kernels = new Map<number, Kernel>();
	private readonly mostBytes: Float64Array;
	private readonly mostFaults: Float64Array;

	constructor(run: Run) {
		const axis = run.axis;
		this.run = run;
		this.length = axis.end - axis.start;
		this.byTime = axis.kind === "time";
		this.bins = axis.bins;
		this.binWidth = this.length / axis.bins;
		for (const of of run.summary.allocations) this.allocations.set(of.allocation, of);
		for (const of of run.summary.kernels) this.kernels.set(of.first_op, of);
		this.transfers = run.transfers.map((s) => ({ ...s, bins: unpackBins(s.bins, axis.bins) }));
		this.faults = run.faults.map((s) => ({ ...s, bins: unpackBins(s.bins, axis.bins) }));
		this.launches = unpackBins(run.launches.count, axis.bins);
		this.busy = unpackBins(run.launches.busy, axis.bins);
		this.mostBytes = unpackRepeats(run.foremost.bytes, axis.bins);
		this.mostFaults = unpackRepeats(run.foremost.faults, axis.bins);
		this.spans = this.unpackSpans();
	}

	private unpackSpans(): Span[] {
		const s = this.run.spans;
		const text = (n: number) => (n < 0 ? null : s.texts[n]);
		return s.kind.map((kind, i) => ({
			kind: s.texts[kind],
			start: s.start[i],
			end: s.start[i] + s.end[i],
			op: s.op[i],
			stream: s.stream[i],
			device: s.device[i],
			thread: s.thread[i],
			kernel: this.kernels.get(s.kernel[i]) ?? null,
			allocation: this.allocations.get(s.allocation[i]) ?? null,
			bytes: s.bytes[i] < 0 ? null : s.bytes[i],
			detail: text(s.detail[i]),
			site: text(s.site[i]),
		}));
	}

	binAt(x: number): number {
		return Math.max(0, Math.min(this.bins - 1, Math.floor(x / this.binWidth)));
	}

	allocation(id: number): Allocation | null {
		return this.allocations.get(id) ?? null;
	}

	/** The allocation with most bytes over the link, or most faults, in these bins: that of the fullest. */
	foremost(what: "bytes" | "faults", first: number, last: number): Allocation | null {
		const ranks = what === "bytes" ? this.mostBytes : this.mostFaults;
		const weights = what === "bytes" ? this.transfers : this.faults;
		let best = -1;
		let most = 0;
		for (let bin = first; bin <= last; bin++) {
			if (ranks[bin] < 0) continue;
			let weight = 0;
			for (const series of weights) weight += series.bins[bin];
			if (best < 0 || weight > most) {
				most = weight;
				best = ranks[bin];
			}
		}
		return best < 0 ? null : this.allocation(this.run.foremost.allocations[best]);
	}

	at(x: number): string {
		return this.byTime ? format.duration(Math.max(0, x)) : `call ${format.count(Math.floor(x) + this.run.axis.start)}`;
	}

	label(id: number): string {
		const of = this.allocation(id);
		return of ? allocationLabel(of) : `#${id}`;
	}
}
