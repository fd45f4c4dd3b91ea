// Light and dark: the system's choice, until the reader makes one.
type Theme = "light" | "dark";
const listeners: (() => void)[] = [];
const system = matchMedia("(prefers-color-scheme: dark)");

export function current(): Theme {
	const chosen = document.documentElement.dataset.theme;
	return chosen === "light" || chosen === "dark" ? chosen : system.matches ? "dark" : "light";
}

export function set(theme: Theme | null): void {
	if (theme) document.documentElement.dataset.theme = theme;
	else delete document.documentElement.dataset.theme;
	listeners.forEach((call) => call());
}

export function toggle(): void {
	set(current() === "dark" ? "light" : "dark");
}

/** Calls when colours have changed: canvases have to be drawn again. */
export function onChange(call: () => void): void {
	listeners.push(call);
}

/** A colour of the style sheet. */
export function colour(variable: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue(`--${variable}`).trim();
}

export function watch(): void {
	system.addEventListener("change", () => listeners.forEach((call) => call()));
	let before: string | undefined;
	addEventListener("beforeprint", () => {
		before = document.documentElement.dataset.theme;
		set("light");
	});
	addEventListener("afterprint", () => set(before === "light" || before === "dark" ? before : null));
}
