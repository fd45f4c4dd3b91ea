/*
 * Events of Chrome's trace event format ("Trace Event Format", JSON Object Format), which Perfetto reads
 * too: slices ("X"), instants ("i") and counters ("C") on tracks. A slice begins on a track where that one has ended, or
 * lies within it where the track nests; others go to further lanes of the track, which are tracks of their
 * own there. Slices of a track come in the order of their starts.
 */
#ifndef UM_TRACE_EVENT_H
#define UM_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct um_trace_events;

/* Begins the file; times are told from `zero_ns` on. UM_ENOMEM. */
int um_trace_events_begin(struct um_trace_events **out, FILE *, int64_t zero_ns);
/* Ends the file, with members of "otherData" that the caller wrote as JSON ("" is none), and frees. */
int um_trace_events_end(struct um_trace_events *, const char *other_data, int error);

/* A process of the timeline: the host, a device. Its number orders them. */
int um_trace_events_process(struct um_trace_events *, int64_t process, const char *name);

struct um_trace_slice {
	int64_t process,
		track; /* track: 0 to 999 of a process, in the order in which they are shown */
	const char *track_name;
	bool nests, is_instant; /* the latter: only where it starts, and on its track's only lane */
	const char *name, *category;
	int64_t start_ns, end_ns; /* an end before the start is its start */
	const char *arguments;	  /* JSON members, without braces */
};
/* UM_ENOMEM, UM_EIO. */
int um_trace_events_slice(struct um_trace_events *, const struct um_trace_slice *);
int um_trace_events_counter(struct um_trace_events *, int64_t process, const char *name,
			    int64_t at_ns, int64_t value);

#endif
