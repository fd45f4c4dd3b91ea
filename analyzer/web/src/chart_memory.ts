// How much of each device's memory held the program's data; a dashed line where it is full.
import type { Chart, Frame } from "./charts";
import { columns } from "./charts";
import { unpackRepeats } from "./data";
import * as format from "./format";
import * as theme from "./theme";
import type { View } from "./view";

export function memoryCharts(view: View): Chart[] {
	const { devices } = view.run.occupancy;
	const full = view.run.summary.run.memory_bytes;
	return devices.map((device) => {
		const managed = unpackRepeats(device.managed, view.bins);
		const allocated = unpackRepeats(device.allocated, view.bins);
		// Of bins in one pixel the most: a peak must not vanish.
		const most = (of: Float64Array, first: number, last: number) => {
			let value = 0;
			for (let bin = first; bin <= last; bin++) value = Math.max(value, of[bin]);
			return value;
		};
		const isNear = full !== null && device.most_bytes > full / 3;

		function draw(context: CanvasRenderingContext2D, frame: Frame): void {
			const [fill, solid] = [theme.colour("memory-managed"), theme.colour("memory-device")];
			columns(view, frame.from, frame.to, frame.width / frame.ratio, (x0, x1, first, last) => {
				const below = most(allocated, first, last);
				const above = most(managed, first, last);
				const left = Math.round(frame.x(x0));
				const width = Math.max(1, Math.round(frame.x(x1)) - left);
				context.fillStyle = solid;
				context.fillRect(left, frame.y(below), width, frame.y(0) - frame.y(below));
				context.fillStyle = fill;
				context.fillRect(left, frame.y(below + above), width, frame.y(below) - frame.y(below + above));
			});
			if (full !== null && isNear) {
				context.strokeStyle = theme.colour("bad");
				context.setLineDash([6 * frame.ratio, 4 * frame.ratio]);
				context.lineWidth = frame.ratio;
				context.beginPath();
				context.moveTo(frame.left, frame.y(full));
				context.lineTo(frame.left + frame.width, frame.y(full));
				context.stroke();
			}
		}

		return {
			title: `Memory of gpu${device.device}: at most ${format.bytes(device.most_bytes)}` + (full === null ? "" : ` of ${format.bytes(full)}`),
			height: 150,
			inBytes: true,
			range: () => [0, Math.max(device.most_bytes, isNear ? (full as number) : 0) * 1.06 || 1],
			yValues: (value) => format.bytes(value),
			draw,
		};
	});
}
