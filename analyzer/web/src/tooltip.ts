// What the cursor points at: when, which kernel, which allocation, which line, and how much.
import { causeOf } from "./causes";
import { type Lane, spanAt } from "./chart_lanes";
import type { Heat } from "./chart_heat";
import { type Chart, type Group, sum } from "./charts";
import { allocationLabel } from "./data";
import { h, name, place, replace } from "./dom";
import * as format from "./format";
import type { Span, View } from "./view";

type Row = [string, Node | string];

const kinds: Record<string, string> = { launch: "kernel", host: "host", sync_device: "wait for the GPU", sync_stream: "wait for a stream", event_sync: "wait for an event", range: "phase" };

export class Tooltip {
	private readonly box = h("div", { class: "tooltip", role: "status", hidden: true });

	constructor(
		private readonly view: View,
		private readonly lanes: Lane[],
		private readonly lanesChart: Chart,
		private readonly heat: Heat | null,
		private readonly group: () => Group,
	) {
		document.body.appendChild(this.box);
	}

	remove(): void {
		this.box.remove();
	}

	show(x: number | null, chart: Chart | null, y: number, at: { left: number; top: number }): void {
		if (x === null || x < 0 || x > this.view.length) {
			this.box.hidden = true;
			return;
		}
		const rows = this.rows(x, chart, y);
		replace(this.box, h("div", { class: "tooltip-at" }, this.view.byTime ? `at ${this.view.at(x)}` : this.view.at(x)), h("dl", {}, rows.map(([key, value]) => [h("dt", {}, key), h("dd", {}, value)])));
		this.box.hidden = false;
		const { offsetWidth: width, offsetHeight: height } = this.box;
		const left = at.left + 16 + width > innerWidth ? at.left - width - 12 : at.left + 16;
		this.box.style.left = `${Math.max(4, left)}px`;
		this.box.style.top = `${Math.max(4, Math.min(innerHeight - height - 4, at.top + 16))}px`;
	}

	private rows(x: number, chart: Chart | null, y: number): Row[] {
		const pixel = (this.group().to - this.group().from) / 1000;
		const span = chart === this.lanesChart ? spanAt(this.lanes, y, x, pixel * 3) : null;
		const rows: Row[] = span ? this.ofSpan(span) : this.ofMoment(x);
		if (this.heat && chart === this.heat) rows.push(...this.ofHeat(x, y));
		return [...rows, ...this.ofBins(x, pixel)];
	}

	private ofSpan(span: Span): Row[] {
		const rows: Row[] = [[kinds[span.kind] ?? span.kind.replace(/_/g, " "), span.kernel ? name(span.kernel.name) : (span.detail ? name(span.detail) : span.op >= 0 ? `call ${format.count(span.op)}` : "")]];
		if (this.view.byTime) rows.push(["took", format.duration(span.end - span.start)]);
		if (span.allocation) rows.push(["allocation", name(allocationLabel(span.allocation))]);
		if (span.bytes !== null && span.bytes > 0) rows.push(["bytes", format.bytes(span.bytes)]);
		if (span.site) rows.push(["line", place(span.site)]);
		return rows;
	}

	/** Outside of a lane: which kernel ran, in which phase. */
	private ofMoment(x: number): Row[] {
		const running = this.view.spans.filter((s) => s.start <= x && x <= s.end);
		const kernel = running.find((s) => s.kind === "launch");
		const phase = running.filter((s) => s.kind === "range").pop();
		const rows: Row[] = [];
		if (phase?.detail) rows.push(["phase", name(phase.detail)]);
		if (kernel?.kernel) {
			rows.push(["kernel", name(kernel.kernel.name)]);
			if (kernel.site) rows.push(["launched at", place(kernel.site)]);
		}
		return rows;
	}

	private ofHeat(x: number, y: number): Row[] {
		const cell = this.heat?.at(x, y);
		if (!cell) return [];
		return [
			["pages", `${format.count(cell.first)} to ${format.count(cell.last)}`],
			["here", `${format.amount(cell.amount)} ${cell.what}`],
		];
	}

	/** As many bins as a pixel has. */
	private ofBins(x: number, pixel: number): Row[] {
		const first = this.view.binAt(x - pixel / 2);
		const last = this.view.binAt(x + pixel / 2);
		const rows: Row[] = [];
		for (const series of this.view.transfers) {
			const bytes = sum(series.bins, first, last);
			if (bytes > 0) rows.push([series.direction === "to_host" ? "↓ to host" : series.direction === "to_device" ? "↑ to GPU" : "GPU to GPU", `${format.bytes(bytes)} ${causeOf(series.cause).label}`]);
		}
		const moved = rows.length ? this.view.foremost("bytes", first, last) : null;
		if (moved) rows.push(["mostly of", name(allocationLabel(moved))], ...this.line(moved.site));
		for (const series of this.view.faults) {
			const faults = sum(series.bins, first, last);
			if (faults > 0) rows.push([series.of === "host" ? "host faults" : "GPU faults", format.count(faults)]);
		}
		const faulted = moved ? null : this.view.foremost("faults", first, last);
		if (faulted && this.view.faults.some((s) => sum(s.bins, first, last) > 0)) rows.push(["mostly of", name(allocationLabel(faulted))], ...this.line(faulted.site));
		return rows;
	}

	private line(site: string | null): Row[] {
		return site ? [["allocated at", place(site)]] : [];
	}
}
