// One lane for each stream, for the host, for waits, phases and what the driver did beside.
import type { Chart, Frame } from "./charts";
import { columns, sum } from "./charts";
import * as theme from "./theme";
import type { Span, View } from "./view";

export interface Lane {
	label: string;
	spans: Span[];
	isStream: boolean;
}

const waits = new Set(["sync_device", "sync_stream", "event_sync"]);
const onStreams = new Set(["launch", "copy", "memset", "prefetch"]);

/** Ranges within ranges get a lane each. */
function nested(spans: Span[], label: string): Lane[] {
	const lanes: Lane[] = [];
	const ends: number[] = [];
	for (const span of spans) {
		let depth = 0;
		while (depth < ends.length && ends[depth] > span.start) depth++;
		ends[depth] = span.end;
		ends.length = depth + 1;
		if (!lanes[depth]) lanes[depth] = { label: depth ? "" : label, spans: [], isStream: false };
		lanes[depth].spans.push(span);
	}
	return lanes.slice(0, 6);
}

export function lanesOf(view: View): Lane[] {
	const ranges: Span[] = [];
	const host: Span[] = [];
	const calls: Span[] = [];
	const driver: Span[] = [];
	const streams = new Map<string, Span[]>();
	const devices = new Set(view.spans.filter((s) => s.kind === "launch").map((s) => s.device));
	for (const span of view.spans) {
		if (span.kind === "range") ranges.push(span);
		else if (span.kind === "host") host.push(span);
		else if (waits.has(span.kind) || span.kind === "advise" || span.kind === "attach") calls.push(span);
		else if (onStreams.has(span.kind)) {
			const key = (devices.size > 1 && span.device >= 0 ? `gpu${span.device} ` : "") + `stream ${Math.max(0, span.stream)}`;
			if (!streams.has(key)) streams.set(key, []);
			streams.get(key)?.push(span);
		} else driver.push(span);
	}
	const sorted = [...streams].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
	return [
		...nested(ranges, "phases"),
		...sorted.slice(0, 12).map(([label, spans]) => ({ label, spans, isStream: true })),
		...(host.length ? [{ label: "host", spans: host, isStream: false }] : []),
		...(calls.length ? [{ label: "waits, advice", spans: calls, isStream: false }] : []),
		...(driver.length ? [{ label: "driver", spans: driver, isStream: false }] : []),
	];
}

export const spanVariable = (kind: string): string => {
	const known: Record<string, string> = { launch: "span-launch", copy: "cause-copy", memset: "cause-copy", prefetch: "cause-prefetch", range: "span-range", host: "span-host", advise: "cause-advice", attach: "cause-advice", queue_eviction: "bad", vram_refused: "bad", fault_dropped: "cause-thrashing" };
	return known[kind] ?? (waits.has(kind) ? "span-wait" : "cause-thrashing");
};

const laneHeight = 22;

export function lanesChart(view: View, lanes: Lane[]): Chart {
	const rows = Math.max(1, lanes.length);
	const folded = view.run.launches.total > view.spans.filter((s) => s.kind === "launch").length;

	function text(context: CanvasRenderingContext2D, span: Span, left: number, right: number, middle: number, ratio: number): void {
		const label = span.kind === "launch" ? (span.kernel?.name ?? "kernel").replace(/\(.*$/, "").replace(/^void /, "") : (span.detail ?? span.kind);
		const room = right - left - 8 * ratio;
		if (room < 26 * ratio) return;
		let shown = label.slice(0, 120);
		while (shown.length > 1 && context.measureText(shown).width > room) shown = shown.slice(0, Math.floor(shown.length * 0.8));
		if (shown.length < label.length && shown.length < 3) return;
		context.fillText(shown.length < label.length ? `${shown.slice(0, -1)}…` : shown, left + 4 * ratio, middle);
	}

	/** Launches that were not kept one by one: how much of the time any ran. */
	function haze(context: CanvasRenderingContext2D, frame: Frame, top: number, height: number): void {
		context.fillStyle = theme.colour("span-launch");
		columns(view, frame.from, frame.to, frame.width / frame.ratio, (x0, x1, first, last) => {
			const share = Math.min(1, sum(view.busy, first, last) / (x1 - x0));
			if (share <= 0) return;
			context.globalAlpha = 0.15 + 0.4 * share;
			context.fillRect(frame.x(x0), top + height * (1 - share), Math.max(1, frame.x(x1) - frame.x(x0)), height * share);
		});
		context.globalAlpha = 1;
	}

	let colours = new Map<string, string>();
	const colour = (variable: string): string => {
		if (!colours.has(variable)) colours.set(variable, theme.colour(variable));
		return colours.get(variable) as string;
	};

	function drawLane(context: CanvasRenderingContext2D, frame: Frame, lane: Lane, row: number): void {
		const top = frame.y(rows - row) + 2 * frame.ratio;
		const height = frame.y(rows - row - 1) - frame.y(rows - row) - 4 * frame.ratio;
		let reached = -1;
		if (folded && lane.isStream) haze(context, frame, top, height);
		for (const span of lane.spans) {
			if (span.end < frame.from || span.start > frame.to) continue;
			const left = Math.max(frame.left, frame.x(span.start));
			const right = Math.min(frame.left + frame.width, Math.max(frame.x(span.end), left + frame.ratio));
			if (right <= reached) continue;
			reached = right - left <= frame.ratio ? right : reached;
			context.fillStyle = colour(spanVariable(span.kind));
			context.fillRect(left, top, Math.max(frame.ratio, right - left - (right - left > 4 ? frame.ratio : 0)), height);
			context.fillStyle = colour("span-text");
			text(context, span, left, right, top + height / 2, frame.ratio);
		}
	}

	return {
		title: "Kernels and calls",
		height: rows * laneHeight + 34,
		range: () => [0, rows],
		yValues: () => "",
		hasLanes: true,
		draw(context, frame) {
			colours = new Map();
			context.font = `${11 * frame.ratio}px system-ui, sans-serif`;
			context.textAlign = "left";
			context.textBaseline = "middle";
			lanes.forEach((lane, row) => drawLane(context, frame, lane, row));
			context.restore();
			context.save();
			context.fillStyle = theme.colour("ink-soft");
			context.textAlign = "right";
			context.textBaseline = "middle";
			context.font = `${11 * frame.ratio}px system-ui, sans-serif`;
			lanes.forEach((lane, row) => context.fillText(lane.label, frame.left - 6 * frame.ratio, frame.y(rows - row - 0.5)));
			context.textAlign = "left";
		},
	};
}

/** What stands at a place: the narrowest of what covers it, or what is nearest within a few pixels. */
export function spanAt(lanes: Lane[], y: number, x: number, slack: number): Span | null {
	const lane = lanes[Math.floor(lanes.length - y)];
	let best: Span | null = null;
	let least = Infinity;
	for (const span of lane?.spans ?? []) {
		const off = x < span.start ? span.start - x : x > span.end ? x - span.end : 0;
		const width = span.end - span.start;
		if (off > slack) continue;
		const score = off * 1e3 + width;
		if (score < least) {
			least = score;
			best = span;
		}
	}
	return best;
}
