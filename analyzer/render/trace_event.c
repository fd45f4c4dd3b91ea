#include "trace_event.h"

#include "export.h"

#include "trace/base/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Slices within slices, and lanes of a track; what has no room goes to the last lane. */
enum { DEPTH_MAX = 32, LANES_MAX = 64, TRACKS_OF_PROCESS = 1000 };

struct lane {
	int64_t ends[DEPTH_MAX];
	unsigned depth;
};

struct track {
	int64_t process, track;
	struct lane *lanes;
	unsigned lane_count;
};

struct um_trace_events {
	FILE *out;
	int64_t zero_ns;
	bool has_event;
	struct track *tracks;
	size_t track_count, track_room;
};

static int no_memory(void)
{
	return um_fail(UM_ENOMEM, "out of memory");
}

int um_trace_events_begin(struct um_trace_events **out, FILE *file, int64_t zero_ns)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return no_memory();
	**out = (struct um_trace_events){.out = file, .zero_ns = zero_ns};
	fputs("{\"displayTimeUnit\": \"ns\",\n\"traceEvents\": [", file);
	return 0;
}

int um_trace_events_end(struct um_trace_events *events, const char *other_data, int error)
{
	fprintf(events->out, "\n],\n\"otherData\": {%s}}\n", other_data);
	if (!error && ferror(events->out))
		error = um_fail_errno(UM_EIO, "writing");
	for (size_t i = 0; i < events->track_count; i++)
		free(events->tracks[i].lanes);
	free(events->tracks);
	free(events);
	return error;
}

/* --- names of tracks --- */

static void begin_event(struct um_trace_events *events)
{
	fputs(events->has_event ? ",\n" : "\n", events->out);
	events->has_event = true;
}

static int64_t thread_of(int64_t track, unsigned lane)
{
	return 1 + track + (int64_t)lane * TRACKS_OF_PROCESS;
}

static int name_it(struct um_trace_events *events, const char *what, int64_t process,
		   int64_t thread, const char *name)
{
	int error;

	begin_event(events);
	fprintf(events->out,
		"{\"ph\": \"M\", \"name\": \"%s\", \"pid\": %" PRId64 ", \"tid\": %" PRId64
		", \"args\": {\"name\": ",
		what, process, thread);
	error = um_export_string(events->out, name);
	fputs("}}", events->out);
	return error;
}

/* Lanes of a track stand below one another. */
static int name_lane(struct um_trace_events *events, const struct um_trace_slice *slice,
		     unsigned lane)
{
	int64_t thread = thread_of(slice->track, lane);
	char *name = NULL;
	int error;

	if (lane && asprintf(&name, "%s (%u)", slice->track_name, lane + 1) < 0)
		return no_memory();
	error = name_it(events, "thread_name", slice->process, thread,
			lane ? name : slice->track_name);
	free(name);
	begin_event(events);
	fprintf(events->out,
		"{\"ph\": \"M\", \"name\": \"thread_sort_index\", \"pid\": %" PRId64
		", \"tid\": %" PRId64 ", \"args\": {\"sort_index\": %" PRId64 "}}",
		slice->process, thread, slice->track * LANES_MAX + (int64_t)lane);
	return error;
}

int um_trace_events_process(struct um_trace_events *events, int64_t process, const char *name)
{
	int error = name_it(events, "process_name", process, 0, name);

	begin_event(events);
	fprintf(events->out,
		"{\"ph\": \"M\", \"name\": \"process_sort_index\", \"pid\": %" PRId64
		", \"args\": {\"sort_index\": %" PRId64 "}}",
		process, process);
	return error;
}

/* --- where a slice goes --- */

/* Files have few tracks: as many as there are streams and threads. */
static struct track *find_track(struct um_trace_events *events, const struct um_trace_slice *slice)
{
	for (size_t i = events->track_count; i-- > 0;)
		if (events->tracks[i].process == slice->process &&
		    events->tracks[i].track == slice->track)
			return &events->tracks[i];
	if (events->track_count == events->track_room) {
		size_t room = events->track_room ? 2 * events->track_room : 16;
		struct track *grown = reallocarray(events->tracks, room, sizeof(*grown));

		if (!grown)
			return NULL;
		events->tracks = grown;
		events->track_room = room;
	}
	events->tracks[events->track_count] =
		(struct track){.process = slice->process, .track = slice->track};
	return &events->tracks[events->track_count++];
}

static bool takes(struct lane *lane, const struct um_trace_slice *slice, int64_t end_ns)
{
	while (lane->depth && lane->ends[lane->depth - 1] <= slice->start_ns)
		lane->depth--;
	if (lane->depth &&
	    (!slice->nests || lane->depth == DEPTH_MAX || end_ns > lane->ends[lane->depth - 1]))
		return false;
	lane->ends[lane->depth++] = end_ns;
	return true;
}

static int choose_lane(struct um_trace_events *events, const struct um_trace_slice *slice,
		       int64_t end_ns, unsigned *chosen)
{
	struct track *track = find_track(events, slice);
	struct lane *grown;

	if (!track)
		return no_memory();
	for (*chosen = 0; *chosen < track->lane_count; ++*chosen)
		if (takes(&track->lanes[*chosen], slice, end_ns))
			return 0;
	if (track->lane_count == LANES_MAX) {
		*chosen = LANES_MAX - 1;
		return 0;
	}
	grown = reallocarray(track->lanes, track->lane_count + 1, sizeof(*grown));
	if (!grown)
		return no_memory();
	track->lanes = grown;
	track->lanes[track->lane_count] = (struct lane){.ends = {end_ns}, .depth = 1};
	track->lane_count++;
	return name_lane(events, slice, *chosen);
}

/* --- events --- */

/* Microseconds, to the nanosecond. */
static void put_us(FILE *out, int64_t ns)
{
	uint64_t magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	fprintf(out, "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", magnitude / 1000,
		(unsigned)(magnitude % 1000));
}

/* Of a file from anyone: what no int64_t holds wraps. */
static int64_t difference(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

int um_trace_events_slice(struct um_trace_events *events, const struct um_trace_slice *slice)
{
	bool is_moment = slice->is_instant || slice->end_ns < slice->start_ns;
	int64_t end_ns = is_moment ? slice->start_ns : slice->end_ns;
	unsigned lane = 0;
	int error = choose_lane(events, slice, end_ns, &lane);

	if (error)
		return error;
	begin_event(events);
	fputs(slice->is_instant ? "{\"ph\": \"i\", \"s\": \"t\", \"name\": "
				: "{\"ph\": \"X\", \"name\": ",
	      events->out);
	error = um_export_string(events->out, slice->name);
	fprintf(events->out,
		", \"cat\": \"%s\", \"pid\": %" PRId64 ", \"tid\": %" PRId64 ", \"ts\": ",
		slice->category, slice->process, thread_of(slice->track, lane));
	put_us(events->out, difference(slice->start_ns, events->zero_ns));
	if (!slice->is_instant) {
		fputs(", \"dur\": ", events->out);
		put_us(events->out, difference(end_ns, slice->start_ns));
	}
	fprintf(events->out, ", \"args\": {%s}}", slice->arguments);
	if (!error && ferror(events->out))
		error = um_fail_errno(UM_EIO, "writing");
	return error;
}

int um_trace_events_counter(struct um_trace_events *events, int64_t process, const char *name,
			    int64_t at_ns, int64_t value)
{
	int error;

	begin_event(events);
	fputs("{\"ph\": \"C\", \"name\": ", events->out);
	error = um_export_string(events->out, name);
	fprintf(events->out, ", \"pid\": %" PRId64 ", \"ts\": ", process);
	put_us(events->out, difference(at_ns, events->zero_ns));
	fprintf(events->out, ", \"args\": {\"bytes\": %" PRId64 "}}", value);
	return error;
}
