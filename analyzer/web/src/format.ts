// Figures as people read them; the same units as the terminal's.
import type { Known } from "./data";

const none = "–";

function digits(value: number): string {
	const size = Math.abs(value);
	const places = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
	return String(Number(value.toFixed(places)));
}

export function bytes(value: Known): string {
	if (value === null) return none;
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
	let unit = 0;
	while (Math.abs(value) >= 1024 && unit < units.length - 1) {
		value /= 1024;
		unit++;
	}
	return `${digits(value)} ${units[unit]}`;
}

export function rate(value: number): string {
	const units = ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"];
	let unit = 0;
	while (Math.abs(value) >= 1000 && unit < units.length - 1) {
		value /= 1000;
		unit++;
	}
	return `${digits(value)} ${units[unit]}`;
}

export function duration(value: Known): string {
	if (value === null) return none;
	const units: [string, number][] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]];
	for (const [unit, ns] of units) if (Math.abs(value) >= ns) return `${digits(value / ns)} ${unit}`;
	return `${digits(value)} ns`;
}

export function count(value: Known): string {
	return value === null ? none : Math.round(value).toLocaleString("en-US");
}

/** A count that may be in parts: 0.25 of a page in a cell. */
export const amount = (value: number): string => (value >= 100 ? count(value) : digits(value));

/** Large counts for people: 16.8 M. */
export function short(value: Known): string {
	if (value === null) return none;
	if (Math.abs(value) < 1e6) return count(value);
	const units: [string, number][] = [["T", 1e12], ["G", 1e9], ["M", 1e6]];
	for (const [unit, of] of units) if (Math.abs(value) >= of) return `${digits(value / of)} ${unit}`;
	return count(value);
}

export function percent(part: number, whole: number): string {
	if (!(whole > 0)) return none;
	const share = (100 * part) / whole;
	return share > 0 && share < 1 ? "< 1 %" : `${share.toFixed(share < 10 ? 1 : 0)} %`;
}

/** "5.2 x less", "12 % less", "3 % more", "as before" */
export function change(before: number, after: number): string {
	if (before === after) return "as before";
	if (before <= 0) return "more than none";
	if (after <= 0) return "none";
	const times = before / after;
	if (times >= 2) return `${digits(times)} × less`;
	if (times <= 0.5) return `${digits(1 / times)} × more`;
	const share = Math.abs(100 * (1 - after / before));
	const text = share < 0.1 ? "< 0.1" : share.toFixed(share < 10 ? 1 : 0);
	return `${text} % ${after < before ? "less" : "more"}`;
}

export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;
