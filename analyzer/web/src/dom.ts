// Elements. Whatever comes from a trace becomes text, never markup: there is no innerHTML on this page.
type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;

function append(to: Node, child: Child): void {
	if (Array.isArray(child)) child.forEach((c) => append(to, c));
	else if (child instanceof Node) to.appendChild(child);
	else if (child !== null && child !== undefined && child !== false) to.appendChild(document.createTextNode(String(child)));
}

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === "function") element.addEventListener(name, value);
		else if (name === "style" && typeof value === "string") setStyle(element, value);
		else if (value === true) element.setAttribute(name, "");
		else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
	}
	children.forEach((child) => append(element, child));
	return element;
}

/** "name: value; ..." through the object model: the page's policy forbids style attributes. */
function setStyle(element: HTMLElement, text: string): void {
	for (const rule of text.split(";")) {
		const colon = rule.indexOf(":");
		if (colon > 0) element.style.setProperty(rule.slice(0, colon).trim(), rule.slice(colon + 1).trim());
	}
}

export function replace(element: Element, ...children: Child[]): void {
	element.replaceChildren();
	children.forEach((child) => append(element, child));
}

/** A name from the trace: isolated, so that it cannot reorder what stands beside it; cut by CSS, whole in its title. */
export function name(text: string, className = ""): HTMLElement {
	return h("bdi", { class: `name ${className}`.trim(), title: text.length > 40 ? text : null }, text);
}

/** "dir/file.hip:37" as "file.hip:37", whole in its title. */
export function place(text: string): HTMLElement {
	const short = text.replace(/^.*\/(?=[^/]+:\d+$)/, "");
	return h("bdi", { class: "name place", title: text }, short);
}

/** Where a figure comes from: a dot and the word. */
export function origin(word: string | null): HTMLElement | null {
	return word ? h("span", { class: `origin origin-${word}`, title: originMeaning[word] ?? "" }, word) : null;
}

export const originMeaning: Record<string, string> = {
	measured: "measured on the machine itself",
	imported: "from another tool's trace",
	emulated: "seen while the program ran on the CPU: exact for what it did",
	modelled: "by a model of the driver",
	inferred: "derived from other figures; a bound",
	absent: "not in this file",
};

export function section(id: string, title: string, about: Child, ...children: Child[]): HTMLElement {
	return h("section", { id, "aria-labelledby": `${id}-title`, tabindex: -1 }, h("header", { class: "section-head" }, h("h2", { id: `${id}-title` }, title), about ? h("p", { class: "about" }, about) : null), ...children);
}
