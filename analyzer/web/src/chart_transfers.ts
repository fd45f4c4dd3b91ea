// What crosses the link: to the device upwards, to the host downwards, stacked by cause; as a rate, so that
// a wide bin and a narrow one read alike.
import { causeVariable, causes } from "./causes";
import { type Chart, type Frame, columns, sum } from "./charts";
import * as format from "./format";
import * as theme from "./theme";
import type { View } from "./view";

const pixelsInSight = 1000;

/** Of one way, by cause, in the order in which causes are stacked. */
function stack(view: View, direction: string) {
	return causes
		.map(({ word }) => ({ word, of: view.transfers.filter((s) => s.cause === word && (s.direction === direction || (direction === "to_device" && s.direction === "between_devices"))) }))
		.filter((entry) => entry.of.length)
		.map((entry) => {
			const bins = new Float64Array(view.bins);
			for (const series of entry.of) series.bins.forEach((value, i) => (bins[i] += value));
			return { word: entry.word, bins };
		});
}

export function transfersChart(view: View): Chart {
	const up = stack(view, "to_device");
	const down = stack(view, "to_host");
	const perUnit = (bytes: number, width: number) => (view.byTime ? (bytes / width) * 1e9 : bytes / width);
	const write = (value: number) => (view.byTime ? format.rate(Math.abs(value)) : format.bytes(Math.abs(value)));
	const most = (side: typeof up, first: number, last: number, width: number) => perUnit(side.reduce((total, s) => total + sum(s.bins, first, last), 0), width);

	function draw(context: CanvasRenderingContext2D, frame: Frame): void {
		const colours = new Map(causes.map(({ word }) => [word, theme.colour(causeVariable(word))]));
		columns(view, frame.from, frame.to, frame.width / frame.ratio, (x0, x1, first, last) => {
			const left = Math.round(frame.x(x0));
			const width = Math.max(1, Math.round(frame.x(x1)) - left);
			for (const [side, sign] of [[up, 1], [down, -1]] as const) {
				let base = 0;
				for (const series of side) {
					const value = perUnit(sum(series.bins, first, last), x1 - x0);
					if (!(value > 0)) continue;
					const near = frame.y(sign * base);
					const far = frame.y(sign * (base + value));
					context.fillStyle = colours.get(series.word) ?? "gray";
					context.fillRect(left, Math.min(near, far), width, Math.max(Math.abs(far - near), 1));
					base += value;
				}
			}
		});
		context.fillStyle = theme.colour("ink-soft");
		context.fillRect(frame.left, frame.y(0), frame.width, 1);
	}

	return {
		title: view.byTime ? "Over the link: to the GPU ↑, to the host ↓" : "Over the link, by call: to the GPU ↑, to the host ↓",
		height: 210,
		range(from, to) {
			let high = 0;
			let low = 0;
			columns(view, from, to, pixelsInSight, (x0, x1, first, last) => {
				high = Math.max(high, most(up, first, last, x1 - x0));
				low = Math.max(low, most(down, first, last, x1 - x0));
			});
			const room = (high + low || 1) * 0.04;
			return [low ? -low - room : 0, high ? high + room : low ? room : 1];
		},
		yValues: write,
		draw,
	};
}

export function faultsChart(view: View): Chart {
	const device = view.faults.find((s) => s.of === "device");
	const host = view.faults.find((s) => s.of === "host");
	const sides = [
		{ bins: device?.bins, sign: 1, variable: "fault-device" },
		{ bins: host?.bins, sign: -1, variable: "fault-host" },
	];

	return {
		title: "Page faults: of the GPU ↑, of the host ↓",
		height: 120,
		range(from, to) {
			const most = [0, 0];
			columns(view, from, to, pixelsInSight, (_x0, _x1, first, last) => sides.forEach((side, i) => side.bins && (most[i] = Math.max(most[i], sum(side.bins, first, last)))));
			const room = (most[0] + most[1] || 1) * 0.05;
			return [most[1] ? -most[1] - room : 0, most[0] ? most[0] + room : most[1] ? room : 1];
		},
		yValues: (value) => (Number.isInteger(value) ? format.short(Math.abs(value)) : ""),
		draw(context, frame) {
			columns(view, frame.from, frame.to, pixelsInSight, (x0, x1, first, last) => {
				for (const side of sides) {
					const value = side.bins ? sum(side.bins, first, last) : 0;
					if (!value) continue;
					const near = frame.y(0);
					const far = frame.y(side.sign * value);
					context.fillStyle = theme.colour(side.variable);
					context.fillRect(frame.x(x0), Math.min(near, far), Math.max(1.5 * frame.ratio, frame.x(x1) - frame.x(x0)), Math.max(1, Math.abs(far - near)));
				}
			});
			context.fillStyle = theme.colour("ink-soft");
			context.fillRect(frame.left, frame.y(0), frame.width, 1);
		},
	};
}
