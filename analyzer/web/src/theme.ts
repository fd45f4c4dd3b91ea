// Light and dark: the system's choice, until the reader makes one; light on paper.
// <html data-theme> always says which, and the style sheet has each colour once for it.
type Theme = "light" | "dark";
const listeners: (() => void)[] = [];
const system = matchMedia("(prefers-color-scheme: dark)");
let chosen: Theme | null = null;
let printing = false;

function current(): Theme {
	if (printing) return "light";
	return chosen ?? (system.matches ? "dark" : "light");
}

function apply(): void {
	document.documentElement.dataset.theme = current();
	listeners.forEach((call) => call());
}

export function toggle(): void {
	chosen = current() === "dark" ? "light" : "dark";
	apply();
}

/** Calls when colours have changed: canvases have to be drawn again. */
export function onChange(call: () => void): void {
	listeners.push(call);
}

/** A colour of the style sheet. */
export function colour(variable: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue(`--${variable}`).trim();
}

/** Before anything is drawn. */
export function watch(): void {
	apply();
	system.addEventListener("change", apply);
	for (const [event, is] of [["beforeprint", true], ["afterprint", false]] as const)
		addEventListener(event, () => {
			printing = is;
			apply();
		});
}
