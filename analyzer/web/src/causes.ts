// What crosses the link, in the order in which it is stacked; words as in schema.sql.
export interface Cause {
	word: string;
	label: string;
	about: string;
}

export const causes: Cause[] = [
	{ word: "device_fault", label: "device faults", about: "pages that a kernel touched while they lay elsewhere" },
	{ word: "driver_prefetch", label: "brought along", about: "pages that the driver moved beside pages that faulted" },
	{ word: "host_fault", label: "host faults", about: "pages that the host touched while they lay on a device" },
	{ word: "eviction", label: "evictions", about: "pages that left a device to make room" },
	{ word: "thrashing", label: "thrashing", about: "pages that went to and fro" },
	{ word: "remote_access", label: "remote access", about: "lines read and written in place, over the link, without moving a page" },
	{ word: "prefetch", label: "prefetches", about: "what the program asked for with hipMemPrefetchAsync" },
	{ word: "copy", label: "explicit copies", about: "hipMemcpy and its kind" },
	{ word: "duplicate", label: "duplicates", about: "copies of read-mostly pages" },
	{ word: "advice", label: "advice", about: "moved on account of hipMemAdvise" },
	{ word: "access_counter", label: "access counters", about: "moved since the hardware counted many remote accesses" },
	{ word: "out_of_memory", label: "out of memory", about: "moved or mapped for lack of room" },
	{ word: "host_unmap", label: "host unmaps", about: "the host changed its own mapping" },
	{ word: "unknown", label: "unknown cause", about: "the file does not say why" },
];

export const causeOf = (word: string): Cause => causes.find((c) => c.word === word) ?? { word, label: word, about: "" };
export const causeVariable = (word: string): string => `cause-${word.replace(/_/g, "-")}`;
