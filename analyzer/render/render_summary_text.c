#include "render_summary.h"

#include "summary_driver.h"
#include "summary_cells.h"
#include "summary_end.h"
#include "summary_head.h"
#include "summary_host.h"
#include "summary_measured.h"
#include "summary_selection.h"
#include "trace/base/error.h"
#include "trace/base/text_table.h"
#include "trace/base/text_width.h"
#include "trace/base/units.h"
#include "trace/spool/spool_record.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NOT_THERE "  not in this file\n"

/* ---------------------------------------------------------------- traffic and faults */

/* "1 batch", "1,024 batches" */
static void put_counted(FILE *out, int64_t count, const char *one, const char *many)
{
	char text[32];

	fprintf(out, "%s %s", um_format_count(text, sizeof(text), (uint64_t)count),
		count == 1 ? one : many);
}

static const struct um_text_column traffic_columns[] = {{"cause", UM_ALIGN_LEFT},
							{"to the GPU", UM_ALIGN_RIGHT},
							{"to the host", UM_ALIGN_RIGHT},
							{"transfers", UM_ALIGN_RIGHT},
							{NULL, 0}};

static void traffic_row(struct um_text_table *table, const char *what,
			const struct um_traffic *traffic)
{
	um_text_table_cell(table, "%s", what);
	um_cell_bytes(table, traffic->bytes_to_device);
	um_cell_bytes(table, traffic->bytes_to_host);
	um_cell_count(table, traffic->transfers);
}

static bool has_traffic(const struct um_summary *summary, enum um_traffic_cause cause)
{
	return um_summary_has_traffic(summary, cause) &&
	       (summary->traffic[cause].bytes_to_device || summary->traffic[cause].bytes_to_host);
}

/* What remote bytes are, since no cache is simulated. */
static void note_remote(struct um_text_table *table, const struct um_summary *summary)
{
	const struct um_traffic *remote = &summary->traffic[UM_TRAFFIC_REMOTE_ACCESS];
	char requests[32], all[32];

	if (!has_traffic(summary, UM_TRAFFIC_REMOTE_ACCESS))
		return;
	um_text_table_note(table, "remote access: each line once per launch, as with a cache that "
				  "keeps them all");
	if (remote->requests > 0)
		um_text_table_note(
			table, "  %s requests x 64 B = %s without a cache",
			um_format_count(requests, sizeof(requests), (uint64_t)remote->requests),
			um_format_bytes(all, sizeof(all),
					(uint64_t)remote->requests * UM_LINE_BYTES));
	else
		um_text_table_note(table, "  requests were not counted");
}

/* What crossed no link to the host, and so is in no row. */
static void note_peers(struct um_text_table *table, const struct um_summary *summary)
{
	char copied[32], remote[32];

	if (summary->peer_copied || summary->peer_remote)
		um_text_table_note(
			table, "besides, from GPU to GPU: %s copied, %s accessed in place",
			um_format_bytes(copied, sizeof(copied), (uint64_t)summary->peer_copied),
			um_format_bytes(remote, sizeof(remote), (uint64_t)summary->peer_remote));
}

static int print_traffic(FILE *out, const struct um_summary *summary)
{
	struct um_text_table *table;
	const char *link = summary->device_count ? summary->devices[0].link : NULL;

	fputs("\nTraffic between host and GPU", out);
	if (link || !summary->is_measured) {
		fputs(" over ", out);
		um_text_print(out, link ? link : "a link that the file does not name");
	}
	fprintf(out, "%s\n", um_summary_measured(summary));
	if (!um_summary_has_traffic(summary, UM_TRAFFIC_CAUSES)) {
		fputs(NOT_THERE, out);
		return 0;
	}
	int error = um_text_table_create(&table, traffic_columns);
	if (error)
		return error;
	for (enum um_traffic_cause i = 0; i < UM_TRAFFIC_CAUSES; i++)
		if (has_traffic(summary, i))
			traffic_row(table, um_traffic_words[i].label, &summary->traffic[i]);
	traffic_row(table, "total", &summary->total);
	note_remote(table, summary);
	note_peers(table, summary);
	if (summary->is_measured)
		um_text_table_note(table, "without what the GPU accessed in place, over the link: "
					  "that is not measured");
	if (summary->total.bytes_to_device == UM_NULL || summary->total.bytes_to_host == UM_NULL)
		um_text_table_note(table, "not all of it is in this file");
	error = um_text_table_print(table, out, 2);
	um_text_table_destroy(table);
	return error;
}

/* " (1 on a read, 2 on a write), ": those that are known. */
static void print_accesses(FILE *out, const struct um_fault_totals *totals, const char *behind)
{
	const char *before = " (";
	char count[32];

	for (size_t i = 0; i < UM_FAULT_ACCESSES; i++) {
		if (totals->by_access[i] <= 0)
			continue;
		fprintf(out, "%s%s %s", before,
			um_format_count(count, sizeof(count), (uint64_t)totals->by_access[i]),
			um_access_words[i].label);
		before = ", ";
	}
	fprintf(out, "%s%s", *before == ',' ? ")" : "", behind);
}

/* A driver tells of some of the pages that faulted, and of one place a record. */
static void print_records(FILE *out, const struct um_fault_totals *totals)
{
	fputs(" in ", out);
	put_counted(out, totals->records, "record", "records");
	fputs(" of the driver\n", out);
}

static void print_measured_faults_of(FILE *out, const char *whose,
				     const struct um_fault_totals *totals)
{
	char count[32];

	fprintf(out, "  %s: %s", whose,
		um_format_count(count, sizeof(count), (uint64_t)totals->faults));
	if (totals->faults > 0)
		print_accesses(out, totals, "");
	print_records(out, totals);
}

static void print_measured_faults(FILE *out, const struct um_summary *summary)
{
	fprintf(out, "\nPage faults%s\n", um_summary_measured(summary));
	if (summary->device_faults.faults == UM_NULL)
		fputs("  of the GPU: not counted\n", out);
	else
		print_measured_faults_of(out, "of the GPU", &summary->device_faults);
	if (!summary->has_host_faults)
		fprintf(out, "  of the host: not recorded%s\n",
			summary->is_imported ? "" : " (umtrace --faults=all records them)");
	else if (summary->host_faults.faults == UM_NULL)
		fputs("  of the host: not counted\n", out);
	else
		print_measured_faults_of(out, "of the host", &summary->host_faults);
}

static void print_faults_of(FILE *out, const char *whose, const struct um_fault_totals *totals)
{
	char count[32];

	if (totals->faults == UM_NULL)
		fprintf(out, "  %s: not counted", whose);
	else
		fprintf(out, "  %s: %s", whose,
			um_format_count(count, sizeof(count), (uint64_t)totals->faults));
	if (totals->pages) {
		print_accesses(out, totals, ", ");
		fputs("on ", out);
		put_counted(out, totals->pages, "page", "pages");
	}
	if (totals->batches) {
		fputs(", served in ", out);
		put_counted(out, totals->batches, "batch", "batches");
	}
	fputc('\n', out);
}

static void print_faults(FILE *out, const struct um_summary *summary)
{
	if (!summary->has_faults) {
		fputs(summary->is_imported   ? "\nPage faults, imported\n  not recorded\n"
		      : summary->is_measured ? "\nPage faults, measured\n  not recorded (umtrace "
					       "--faults=gpu records them)\n"
					     : "\nPage faults\n" NOT_THERE,
		      out);
		return;
	}
	if (summary->is_measured) {
		print_measured_faults(out, summary);
		return;
	}
	fputs("\nPage faults, each of the page of 4 KiB that was touched; what moved for them is "
	      "above\n",
	      out);
	print_faults_of(out, "of the GPU", &summary->device_faults);
	print_faults_of(out, "of the host", &summary->host_faults);
}

/* ---------------------------------------------------------------- kernels */

#define KERNEL_COLUMNS_UNTIMED                                                                     \
	{"kernel", UM_ALIGN_LEFT}, {"launches", UM_ALIGN_RIGHT}, {"faults", UM_ALIGN_RIGHT},       \
		{"moved\nin", UM_ALIGN_RIGHT}, {"moved\nout", UM_ALIGN_RIGHT},                     \
		{"remote\nin", UM_ALIGN_RIGHT}, {"remote\nout", UM_ALIGN_RIGHT},                   \
		{"reads", UM_ALIGN_RIGHT}, {"writes", UM_ALIGN_RIGHT},                             \
	{                                                                                          \
		"requests", UM_ALIGN_RIGHT                                                         \
	}

static const struct um_text_column kernel_columns_untimed[] = {KERNEL_COLUMNS_UNTIMED, {NULL, 0}};
static const struct um_text_column kernel_columns[] = {
	KERNEL_COLUMNS_UNTIMED, {"time", UM_ALIGN_RIGHT}, {NULL, 0}};
enum { KERNEL_COLUMNS = sizeof(kernel_columns) / sizeof(kernel_columns[0]) };

static void kernel_row(struct um_text_table *table, const struct um_kernel_summary *kernel,
		       bool timed)
{
	um_cell_count(table, kernel->faults);
	um_cell_bytes(table, kernel->migrated_to_device_bytes);
	um_cell_bytes(table, kernel->migrated_to_host_bytes);
	um_cell_bytes(table, kernel->remote_to_device_bytes);
	um_cell_bytes(table, kernel->remote_to_host_bytes);
	um_cell_accesses(table, kernel->reads);
	um_cell_accesses(table, kernel->writes);
	um_cell_accesses(table, kernel->requests);
	if (timed)
		um_cell_duration(table, kernel->duration_ns);
}

static void note_untraced(struct um_text_table *table, const struct um_summary *summary)
{
	int64_t untraced = 0;
	char text[32];

	for (size_t i = 0; i < summary->kernel_count; i++)
		untraced += summary->kernels[i].untraced;
	if (um_has_selection(summary))
		um_text_table_note(table,
				   summary->is_measured
					   ? "faults, bytes and maps are of the recorded launches "
					     "alone: those of the others are not known"
					   : "figures behind \"recorded\" are of the recorded "
					     "launches alone: those of the others are not known");
	else if (untraced)
		um_text_table_note(table,
				   "%s of the launches ran without being recorded: their accesses "
				   "are missing above",
				   um_format_count(text, sizeof(text), (uint64_t)untraced));
}

/* What an early end of the file may leave is a launch without its kernel. */
static void print_no_kernels(FILE *out, const struct um_summary *summary)
{
	int64_t launches = 0;

	for (size_t i = 0; i < summary->call_count; i++)
		if (strcmp(summary->calls[i].name, "launch") == 0)
			launches = summary->calls[i].count;
	fputs("\nKernels\n", out);
	if (!launches) {
		fputs("  none was launched\n", out);
		return;
	}
	fputs("  ", out);
	put_counted(out, launches, "launch", "launches");
	fputs(" whose kernels are not in this file\n", out);
}

static int print_kernels(FILE *out, const struct um_summary *summary, size_t rows)
{
	/* The time that a CPU took to play a kernel says nothing: only a simulation's is shown. */
	bool simulation = strcmp(summary->run.role, "simulation") == 0;
	struct um_text_column columns[KERNEL_COLUMNS + 1];
	struct um_text_table *table;
	int error;

	if (!summary->kernel_count) {
		print_no_kernels(out, summary);
		return 0;
	}
	um_kernel_columns(columns,
			  summary->is_measured ? um_measured_kernel_columns
			  : simulation	       ? kernel_columns
					       : kernel_columns_untimed,
			  summary);
	error = um_text_table_create(&table, columns);
	if (error)
		return error;
	fprintf(out,
		"\nKernels, in the order of their first launch; bytes that crossed the link "
		"meanwhile%s\n",
		um_summary_measured(summary));
	for (size_t i = 0; i < summary->kernel_count && i < rows; i++) {
		um_kernel_cells(table, &summary->kernels[i], summary);
		if (summary->is_measured)
			um_measured_kernel_row(table, &summary->kernels[i]);
		else
			kernel_row(table, &summary->kernels[i], simulation);
	}
	um_note_rest(table, summary->kernel_count, rows);
	if (!summary->is_measured || um_has_selection(summary))
		note_untraced(table, summary);
	error = um_text_table_print(table, out, 2);
	um_text_table_destroy(table);
	return error;
}

/* ---------------------------------------------------------------- allocations */

static const struct um_text_column allocation_columns[] = {{"allocation", UM_ALIGN_LEFT},
							   {"kind", UM_ALIGN_LEFT},
							   {"bytes", UM_ALIGN_RIGHT},
							   {"touched", UM_ALIGN_RIGHT},
							   {"GPU\nfaults", UM_ALIGN_RIGHT},
							   {"host\nfaults", UM_ALIGN_RIGHT},
							   {"moved\nin", UM_ALIGN_RIGHT},
							   {"moved\nout", UM_ALIGN_RIGHT},
							   {"remote\nin", UM_ALIGN_RIGHT},
							   {"remote\nout", UM_ALIGN_RIGHT},
							   {"copied", UM_ALIGN_RIGHT},
							   {"host\npages", UM_ALIGN_RIGHT},
							   {NULL, 0}};

void um_cell_allocation(struct um_text_table *table, const struct um_allocation_summary *of)
{
	char label[160];

	snprintf(label, sizeof(label), "#%" PRId64 "%s%s", of->allocation,
		 of->name || of->site ? " " : "", of->name ? of->name : "");
	if (!of->name && of->site)
		um_cell_site(table, label, of->site);
	else
		um_cell_name(table, label, strlen(label));
}

static void allocation_row(struct um_text_table *table, const struct um_allocation_summary *of,
			   bool touched_known)
{
	um_text_table_cell(table, "%s", of->kind);
	um_cell_bytes(table, of->bytes);
	um_cell_bytes(table, touched_known ? of->touched_bytes : UM_NULL);
	um_cell_count(table, of->device_faults);
	um_cell_count(table, of->host_faults);
	um_cell_bytes(table, of->migrated_to_device_bytes);
	um_cell_bytes(table, of->migrated_to_host_bytes);
	um_cell_bytes(table, of->remote_to_device_bytes);
	um_cell_bytes(table, of->remote_to_host_bytes);
	um_cell_bytes(table, of->copied_to_device_bytes == UM_NULL
				     ? UM_NULL
				     : (int64_t)((uint64_t)of->copied_to_device_bytes +
						 (uint64_t)of->copied_to_host_bytes));
	um_cell_count(table, touched_known ? of->host_touched_pages : UM_NULL);
}

/* Doubles, so that sums of a damaged file cannot overflow. */
static double traffic_of(const struct um_allocation_summary *of)
{
	const int64_t parts[] = {of->migrated_to_device_bytes, of->migrated_to_host_bytes,
				 of->remote_to_device_bytes,   of->remote_to_host_bytes,
				 of->copied_to_device_bytes,   of->copied_to_host_bytes};
	double sum = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		sum += parts[i] == UM_NULL ? 0 : (double)parts[i];
	return sum;
}

static int most_traffic_first(const void *left, const void *right)
{
	const struct um_allocation_summary *a = *(const struct um_allocation_summary *const *)left;
	const struct um_allocation_summary *b = *(const struct um_allocation_summary *const *)right;
	double a_traffic = traffic_of(a), b_traffic = traffic_of(b);

	if (a_traffic != b_traffic)
		return a_traffic < b_traffic ? 1 : -1;
	return (a->allocation > b->allocation) - (a->allocation < b->allocation);
}

static const struct um_allocation_summary **sorted_allocations(const struct um_summary *summary)
{
	const struct um_allocation_summary **sorted =
		calloc(summary->allocation_count, sizeof(*sorted));

	for (size_t i = 0; sorted && i < summary->allocation_count; i++)
		sorted[i] = &summary->allocations[i];
	if (sorted)
		qsort(sorted, summary->allocation_count, sizeof(*sorted), most_traffic_first);
	return sorted;
}

/* A simulation holds no accesses of its own: they are in the trace. */
static bool has_accesses(const struct um_summary *summary)
{
	for (size_t i = 0; i < summary->allocation_count; i++)
		if (summary->allocations[i].touched_bytes)
			return true;
	return false;
}

static bool lacks_line(const struct um_allocation_summary *of)
{
	return of->site && !of->has_line && !(of->name && *of->name);
}

/* Below their allocation, and within it. */
static void cell_part(struct um_text_table *table, const struct um_part_summary *part)
{
	char label[640], times[32];

	if (!part->of.name)
		snprintf(label, sizeof(label), "   (in no part)");
	else if (part->times > 1)
		snprintf(label, sizeof(label), "   %.560s, %s times", part->of.name,
			 um_format_count(times, sizeof(times), (uint64_t)part->times));
	else
		snprintf(label, sizeof(label), "   %.600s", part->of.name);
	um_cell_name(table, label, strlen(label));
}

static void part_rows(struct um_text_table *table, const struct um_summary *summary,
		      const struct um_allocation_summary *of, size_t rows, bool touched_known)
{
	for (size_t i = 0; i < of->part_count && i < rows; i++) {
		cell_part(table, &of->parts[i]);
		if (summary->is_measured)
			um_measured_allocation_row(table, &of->parts[i].of);
		else
			allocation_row(table, &of->parts[i].of, touched_known);
	}
	if (of->part_count > rows)
		um_text_table_note(table, "... and %zu more parts of #%" PRId64,
				   of->part_count - rows, of->allocation);
	if (of->shared_pages)
		um_text_table_note(table,
				   "#%" PRId64 ": %" PRId64 " page%s parts of several names, and "
				   "count%s for each of them",
				   of->allocation, of->shared_pages,
				   of->shared_pages == 1 ? " has" : "s have",
				   of->shared_pages == 1 ? "s" : "");
	if (of->shared_rows)
		um_text_table_note(table,
				   "#%" PRId64
				   ": what moved, was remote or faulted is an estimate by "
				   "part: %" PRId64 " row%s of the trace lie%s over several names, "
				   "and each has its share by pages",
				   of->allocation, of->shared_rows, of->shared_rows == 1 ? "" : "s",
				   of->shared_rows == 1 ? "s" : "");
}

static int print_allocation_rows(FILE *out, const struct um_summary *summary,
				 const struct um_allocation_summary **sorted, size_t rows)
{
	struct um_text_table *table;
	bool touched_known = has_accesses(summary), all_have_lines = true;
	int error = um_text_table_create(
		&table, summary->is_measured ? um_measured_allocation_columns : allocation_columns);

	if (error)
		return error;
	for (size_t i = 0; i < summary->allocation_count && i < rows; i++) {
		um_cell_allocation(table, sorted[i]);
		if (summary->is_measured)
			um_measured_allocation_row(table, sorted[i]);
		else
			allocation_row(table, sorted[i], touched_known);
		part_rows(table, summary, sorted[i], rows, touched_known);
		all_have_lines = all_have_lines && !lacks_line(sorted[i]);
	}
	um_note_rest(table, summary->allocation_count, rows);
	if (summary->is_measured)
		um_note_beside(table, summary);
	if (!all_have_lines)
		um_text_table_note(table, "a program compiled with -g has files and lines here");
	error = um_text_table_print(table, out, 2);
	um_text_table_destroy(table);
	return error;
}

static int print_allocations(FILE *out, const struct um_summary *summary, size_t rows)
{
	if (!summary->allocation_count) {
		fprintf(out, "\nAllocations\n  none was made through %s\n",
			summary->is_measured ? "CUDA" : "HIP");
		return 0;
	}
	const struct um_allocation_summary **sorted = sorted_allocations(summary);
	if (!sorted)
		return um_fail(UM_ENOMEM, "out of memory");
	fprintf(out, "\nAllocations, most traffic first; in is to the GPU, out to the host%s\n",
		um_summary_measured(summary));
	int error = print_allocation_rows(out, summary, sorted, rows);
	free(sorted);
	return error;
}

int um_render_summary_text(FILE *out, const struct um_summary *summary, size_t rows)
{
	if (rows == 0)
		rows = SIZE_MAX;
	int error = um_render_summary_head(out, summary);
	if (!error)
		error = print_traffic(out, summary);
	if (!error)
		error = um_render_transfers(out, summary);
	if (!error)
		print_faults(out, summary);
	if (!error)
		error = um_render_lines(out, summary, rows);
	if (!error)
		error = um_render_host_lines(out, summary, rows);
	if (!error)
		error = um_render_summary_driver(out, summary);
	if (!error)
		error = um_render_ranges(out, summary, rows);
	if (!error)
		error = print_kernels(out, summary, rows);
	if (!error)
		error = um_render_extrapolated(out, summary, rows);
	if (!error)
		error = print_allocations(out, summary, rows);
	if (!error)
		error = um_render_summary_end(out, summary);
	if (!error && fflush(out) != 0)
		error = um_fail_errno(UM_EIO, "writing");
	return error;
}
