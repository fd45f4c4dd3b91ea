// The keyboard: what a letter does anywhere on the page.
import { h } from "./dom";
import * as theme from "./theme";

const list: [string, string][] = [
	["1 … 9", "go to a section"],
	["t", "light or dark"],
	["/", "search the first table"],
	["[ and ]", "the database before, the next one"],
	["p", "print"],
	["?", "this list"],
	["Tab to a chart, then", ""],
	["← →", "earlier, later"],
	["+ −", "zoom; also Ctrl or Shift and the wheel"],
	["0", "all of it; also a double click"],
];

export function keys(step: (by: number) => void): HTMLDialogElement {
	const help = h("dialog", { class: "help", "aria-label": "Keyboard" }, h("h2", {}, "Keyboard"), h("dl", {}, list.map(([key, what]) => [h("dt", {}, key), h("dd", {}, what)])), h("form", { method: "dialog" }, h("button", { autofocus: true }, "Close")));
	help.querySelector("button")?.addEventListener("click", (event) => {
		event.preventDefault();
		help.close();
	});
	const acts: Record<string, () => void> = {
		t: theme.toggle,
		p: () => print(),
		"?": () => (help.open ? help.close() : help.showModal()),
		"/": () => document.querySelector<HTMLInputElement>(".search")?.focus(),
		"[": () => step(-1),
		"]": () => step(1),
	};
	addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
		const isNumber = /^[1-9]$/.test(event.key);
		const section = isNumber ? document.querySelectorAll<HTMLElement>("main section")[Number(event.key) - 1] : null;
		const act = acts[event.key] ?? (section ? () => go(section) : null);
		if (!act) return;
		event.preventDefault();
		act();
	});
	return help;
}

export function go(section: HTMLElement): void {
	section.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
	section.focus({ preventScroll: true });
}
