// Pages by time, of one allocation: the first page on top.
import type { Chart, Frame } from "./charts";
import { type HeatMap, unpackBins } from "./data";
import * as format from "./format";
import * as theme from "./theme";
import type { View } from "./view";

// scale: of the data, where pages count as the 64 lines that they have.
export const layers: { word: string; label: string; unit: string; scale: number }[] = [
	{ word: "to_device", label: "moved to the GPU", unit: "pages", scale: 64 },
	{ word: "to_host", label: "moved to the host", unit: "pages", scale: 64 },
	{ word: "faults", label: "faulted", unit: "times", scale: 1 },
	{ word: "remote", label: "used in place over the link", unit: "pages", scale: 64 },
	{ word: "kernel_touch", label: "touched by kernels", unit: "pages", scale: 64 },
	{ word: "host_touch", label: "touched by the host", unit: "pages", scale: 64 },
];

export class Heat implements Chart {
	title = "";
	height = 300;
	private cells: Float64Array = new Float64Array(0);
	private most = 1;
	private layer = layers[0];
	private map: HeatMap | null = null;
	private readonly columns: number;

	constructor(private readonly view: View) {
		this.columns = view.run.axis.columns;
	}

	show(map: HeatMap, layer: string): void {
		this.map = map;
		this.layer = layers.find((l) => l.word === layer) ?? layers[0];
		this.cells = unpackBins(map.layers[layer]?.cells ?? [], map.rows * this.columns);
		this.most = this.cells.reduce((a, b) => Math.max(a, b), 1);
	}

	range(): [number, number] {
		return [0, this.map?.rows ?? 1];
	}

	yValues = (value: number): string => {
		if (!this.map || !Number.isInteger(value)) return "";
		return format.bytes(Math.min(this.map.pages, (this.map.rows - value) * this.map.pages_a_row) * 4096);
	};

	/** What a place shows: pages and amount; null outside. */
	at(x: number, y: number): { first: number; last: number; amount: number; what: string } | null {
		if (!this.map) return null;
		const row = Math.floor(this.map.rows - y);
		const column = Math.floor((x / this.view.length) * this.columns);
		if (row < 0 || row >= this.map.rows || column < 0 || column >= this.columns) return null;
		const first = row * this.map.pages_a_row;
		return { first, last: Math.min(this.map.pages, first + this.map.pages_a_row) - 1, amount: this.cells[row * this.columns + column] / this.layer.scale, what: `${this.layer.unit} ${this.layer.label}` };
	}

	draw(context: CanvasRenderingContext2D, frame: Frame): void {
		if (!this.map) return;
		const shades = [0, 1, 2, 3, 4, 5, 6, 7].map((step) => theme.colour(`heat-${step}`));
		const width = this.view.length / this.columns;
		const scale = Math.log1p(this.most);
		for (let row = 0; row < this.map.rows; row++) {
			const top = Math.round(frame.y(this.map.rows - row));
			const height = Math.round(frame.y(this.map.rows - row - 1)) - top;
			for (let column = 0; column < this.columns; column++) {
				const amount = this.cells[row * this.columns + column];
				if (!amount || (column + 1) * width < frame.from || column * width > frame.to) continue;
				const step = Math.min(7, Math.floor((Math.log1p(amount) / scale) * 7.999));
				context.fillStyle = shades[step];
				const left = Math.round(frame.x(column * width));
				context.fillRect(left, top, Math.max(1, Math.round(frame.x((column + 1) * width)) - left), Math.max(1, height));
			}
		}
	}
}
