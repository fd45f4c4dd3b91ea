// Tables that can be sorted and searched; bars in a cell show the share of the largest.
import { h, name, replace } from "./dom";

export interface Column<Row> {
	title: string;
	about?: string;
	/** Sorted by this; null is last. */
	value: (row: Row) => number | string | null;
	/** Shown instead of the value. */
	show?: (row: Row) => Node | string;
	bar?: boolean;
	isText?: boolean;
}

const firstRows = 25;

export function table<Row>(caption: string, rows: Row[], columns: Column<Row>[], folded = 0): HTMLElement {
	const used = columns.filter((c) => c.isText || rows.some((row) => c.value(row) !== null && c.value(row) !== 0));
	const most = used.map((c) => (c.bar ? rows.reduce((m, row) => Math.max(m, Number(c.value(row)) || 0), 0) : 0));
	const body = h("tbody");
	const note = h("p", { class: "table-note" });
	let sortBy = -1;
	let descending = true;
	let wanted = "";
	let all = false;

	const text = (row: Row) => used.map((c) => (c.isText ? String(c.value(row) ?? "") : "")).join(" ").toLowerCase();
	function cell(row: Row, column: Column<Row>, i: number): HTMLElement {
		const value = column.value(row);
		const shown = column.show ? column.show(row) : column.isText ? name(String(value ?? "–")) : String(value ?? "–");
		const share = column.bar && most[i] > 0 ? (Number(value) || 0) / most[i] : 0;
		return h("td", { class: column.isText ? "text" : share > 0 ? "number bar" : "number", style: share > 0 ? `--share: ${(100 * share).toFixed(1)}%` : null }, shown);
	}
	function order(a: Row, b: Row): number {
		const [x, y] = [used[sortBy].value(a), used[sortBy].value(b)];
		if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
		const by = typeof x === "string" ? x.localeCompare(String(y), "en", { numeric: true }) : x - Number(y);
		return descending ? -by : by;
	}
	function draw(): void {
		const found = rows.filter((row) => !wanted || text(row).includes(wanted));
		const sorted = sortBy < 0 ? found : [...found].sort(order);
		const shown = all ? sorted : sorted.slice(0, firstRows);
		replace(body, shown.map((row) => h("tr", {}, used.map((c, i) => cell(row, c, i)))));
		replace(
			note,
			shown.length < found.length ? [h("button", { type: "button", class: "link", click: () => ((all = true), draw()) }, `Show all ${found.length}`), " "] : null,
			folded ? `${folded.toLocaleString("en-US")} more, with less over the link, are not on this page: umanalyze summary has them.` : null,
		);
		heads.forEach((head, i) => head.setAttribute("aria-sort", i === sortBy ? (descending ? "descending" : "ascending") : "none"));
	}
	const heads = used.map((column, i) =>
		h(
			"th",
			{ scope: "col", class: column.isText ? "text" : "number" },
			h(
				"button",
				{
					type: "button",
					title: column.about ?? null,
					click: () => {
						descending = sortBy === i ? !descending : !column.isText;
						sortBy = i;
						draw();
					},
				},
				column.title,
			),
		),
	);
	draw();
	const search = rows.length > 8 ? h("input", { type: "search", class: "search", placeholder: `Search ${caption.toLowerCase()}`, "aria-label": `Search ${caption.toLowerCase()}`, input: (event) => ((wanted = event.target.value.toLowerCase()), draw()) }) : null;
	return h("div", { class: "table-box" }, h("div", { class: "table-head" }, h("h3", {}, caption), search), rows.length ? h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, h("table", {}, h("thead", {}, h("tr", {}, heads)), body)) : h("p", { class: "empty" }, "None."), note);
}
