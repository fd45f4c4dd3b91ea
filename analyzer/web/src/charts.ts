// Charts that share one axis: zooming one zooms all, the cursor of one is the cursor of all. uPlot has the
// axes, the cursor and the zoom; what stands in a chart is drawn here, on its canvas.
import uPlot from "uplot";
import { h } from "./dom";
import * as theme from "./theme";
import type { View } from "./view";

export interface Chart {
	title: string;
	height: number;
	/** From and to of what is in sight: its least and most on the y axis. */
	range(from: number, to: number): [number, number];
	yValues: (value: number) => string;
	/** Steps of the y axis in powers of two: bytes. */
	inBytes?: boolean;
	hasLanes?: boolean;
	draw(context: CanvasRenderingContext2D, frame: Frame): void;
}

/** Where a chart draws: a clipped box in pixels of the canvas. */
export interface Frame {
	left: number;
	top: number;
	width: number;
	height: number;
	from: number; // of the axis, in sight
	to: number;
	ratio: number; // pixels of the canvas in one of the page
	x(value: number): number;
	y(value: number): number;
}

const gutter = 78;
const powers = Array.from({ length: 50 }, (_, i) => 2 ** i);

export class Group {
	private readonly plots: uPlot[] = [];
	private readonly key = uPlot.sync(`axis-${Math.random()}`);
	private syncing = false;
	from = 0;
	to: number;

	constructor(
		readonly view: View,
		private readonly onCursor: (x: number | null, chart: Chart | null, y: number, event: { left: number; top: number }) => void,
		private readonly onZoom: (from: number, to: number) => void,
	) {
		this.to = view.length;
		theme.onChange(() => this.redraw());
	}

	redraw(): void {
		this.plots.forEach((plot) => plot.redraw(false, true));
	}

	resize(): void {
		for (const plot of this.plots) {
			const width = (plot.root.parentElement as HTMLElement).clientWidth;
			if (width > 0) plot.setSize({ width, height: plot.height });
		}
	}

	zoom(from: number, to: number): void {
		const least = Math.max(this.view.length / 1e6, 1e-3);
		let width = Math.min(this.view.length, Math.max(least, to - from));
		from = Math.max(0, Math.min(this.view.length - width, from));
		to = from + width;
		this.syncing = true;
		for (const plot of this.plots) plot.setScale("x", { min: from, max: to });
		this.syncing = false;
		this.from = from;
		this.to = to;
		this.onZoom(from, to);
	}

	zoomBy(factor: number, around = (this.from + this.to) / 2): void {
		this.zoom(around - (around - this.from) * factor, around + (this.to - around) * factor);
	}

	pan(share: number): void {
		const by = (this.to - this.from) * share;
		this.zoom(this.from + by, this.to + by);
	}

	reset(): void {
		this.zoom(0, this.view.length);
	}

	/** Puts a chart into the page. */
	add(chart: Chart, className = ""): HTMLElement {
		const box = h("div", { class: `chart ${className}`, tabindex: 0, role: "img", "aria-label": `${chart.title}: drag to zoom, arrows to move, + and - to zoom, 0 for all` });
		const host = h("figure", { class: "chart-figure" }, h("figcaption", {}, chart.title), box);
		requestAnimationFrame(() => this.make(chart, box));
		this.listen(box);
		return host;
	}

	private make(chart: Chart, box: HTMLElement): void {
		const grid = () => theme.colour("grid");
		const ink = () => theme.colour("ink-soft");
		const plot = new uPlot(
			{
				width: box.clientWidth || 800,
				height: chart.height,
				padding: [6, 12, 0, 0],
				legend: { show: false },
				scales: {
					x: { time: false, range: (_, min, max) => [min ?? 0, max ?? this.view.length] },
					y: { range: () => chart.range(this.from, this.to) },
				},
				series: [{}, { paths: () => null, points: { show: false } }],
				axes: [
					{ values: (_, splits) => splits.map((v) => this.view.at(v)), stroke: ink, font: "11px system-ui, sans-serif", grid: { stroke: grid, width: 1 }, ticks: { show: false }, size: 26, space: 90 },
					{ values: (_, splits) => splits.map(chart.yValues), stroke: ink, font: "11px system-ui, sans-serif", grid: { stroke: grid, width: 1, show: !chart.hasLanes }, ticks: { show: false }, size: gutter, gap: 6, space: 28, splits: chart.hasLanes ? () => [] : undefined, incrs: chart.inBytes ? powers : undefined },
				],
				cursor: {
					sync: { key: this.key.key, scales: ["x", null] },
					points: { show: false },
					y: false,
					drag: { x: true, y: false, setScale: true },
					bind: { dblclick: () => () => { this.reset(); return null; } },
				},
				hooks: {
					draw: [(u: uPlot) => this.paint(u, chart)],
					setScale: [
						(u: uPlot, key: string) => {
							if (key === "x" && !this.syncing && u.scales.x.min !== undefined && u.scales.x.max !== undefined) {
								const { min, max } = u.scales.x;
								if (min !== this.from || max !== this.to) queueMicrotask(() => this.zoom(min as number, max as number));
							}
						},
					],
				},
			},
			[
				[0, this.view.length],
				[0, 0],
			],
			box,
		);
		this.plots.push(plot);
		plot.over.addEventListener("mousemove", (event) => this.point(plot, chart, event));
		plot.over.addEventListener("mouseleave", () => this.onCursor(null, null, 0, { left: 0, top: 0 }));
	}

	private point(plot: uPlot, chart: Chart, event: MouseEvent): void {
		const box = plot.over.getBoundingClientRect();
		const x = plot.posToVal(event.clientX - box.left, "x");
		const y = plot.posToVal(event.clientY - box.top, "y");
		this.onCursor(x, chart, y, { left: event.clientX, top: event.clientY });
	}

	private paint(u: uPlot, chart: Chart): void {
		const { left, top, width, height } = u.bbox;
		const context = u.ctx;
		const min = u.scales.x.min ?? 0;
		const max = u.scales.x.max ?? this.view.length;
		const frame: Frame = { left, top, width, height, from: min, to: max, ratio: devicePixelRatio, x: (v) => left + ((v - min) / (max - min)) * width, y: (v) => u.valToPos(v, "y", true) };
		context.save();
		context.beginPath();
		context.rect(left, top, width, height);
		context.clip();
		chart.draw(context, frame);
		context.restore();
	}

	private listen(box: HTMLElement): void {
		const keys: Record<string, () => void> = {
			ArrowLeft: () => this.pan(-0.2),
			ArrowRight: () => this.pan(0.2),
			"+": () => this.zoomBy(0.6),
			"=": () => this.zoomBy(0.6),
			"-": () => this.zoomBy(1 / 0.6),
			"0": () => this.reset(),
			Escape: () => this.reset(),
		};
		box.addEventListener("keydown", (event) => {
			const act = keys[event.key];
			if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
			event.preventDefault();
			act();
		});
		box.addEventListener(
			"wheel",
			(event) => {
				if (!event.ctrlKey && !event.shiftKey) return;
				event.preventDefault();
				const plot = this.plots.find((p) => box.contains(p.root));
				if (!plot) return;
				const x = plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x");
				this.zoomBy(event.deltaY + event.deltaX > 0 ? 1.25 : 0.8, x);
			},
			{ passive: false },
		);
	}
}

/**
 * The bins in sight, added up to what a pixel or more shows: calls with the x of their ends and the
 * indices of the first and the last.
 */
export function columns(view: View, from: number, to: number, pixels: number, call: (x0: number, x1: number, first: number, last: number) => void): void {
	const first = view.binAt(from);
	const last = view.binAt(Math.max(from, to - 1e-9));
	const step = Math.max(1, Math.floor((last - first + 1) / Math.max(1, pixels)));
	const aligned = first - (first % step);
	for (let bin = aligned; bin <= last; bin += step) {
		const end = Math.min(view.bins, bin + step) - 1;
		call(bin * view.binWidth, (end + 1) * view.binWidth, bin, end);
	}
}

export function sum(bins: Float64Array, first: number, last: number): number {
	let total = 0;
	for (let bin = first; bin <= last; bin++) total += bins[bin];
	return total;
}
