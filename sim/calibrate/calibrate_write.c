/* The machine file of a calibration. */
#include "calibrate.h"

#include "trace/base/error.h"

#include <math.h>
#include <string.h>

/*
 * In a measured batch lies what passes from a replay to the driver's next look, less what the first
 * entry takes: nvidia_uvm has that as fetch_time.
 */
#define FETCH_NS 1800

/*
 * Remote requests of 64 bytes that an H200 had in flight, against what transfers achieve: 64 MiB read
 * took 1331 us, 16 MiB read and written 420 us. Between the two, which are 0.92 and 1.45.
 */
#define REMOTE_SHARE 1.28
#define REMOTE_BYTES 64

/* 67584 lanes of an H200 each added to one number: 50.3 us from the last batch to the kernel's end. */
#define ATOMICS_PER_S 1340000000.0

#define LAUNCH "4us"

struct writing {
	FILE *out;
	const struct um_calibration *calibration;
};

/* A line and its source, if it needs one, from column 36 on. */
static void write_line(const struct writing *writing, const char *key, const char *value,
		       const char *source)
{
	int used = fprintf(writing->out, "%s: %s", key, value);

	if (*source)
		fprintf(writing->out, "%*s # %s", used < 34 ? 34 - used : 0, "", source);
	fputc('\n', writing->out);
}

/* Three digits, in ns or us. */
static char *duration_text(char *buffer, size_t capacity, double ns)
{
	double digit = ns > 0 ? pow(10, floor(log10(ns)) - 2) : 1;

	ns = round(ns / digit) * digit;
	if (ns < 1000)
		snprintf(buffer, capacity, "%.0fns", ns);
	else
		snprintf(buffer, capacity, "%.10gus", ns / 1000);
	return buffer;
}

static void write_duration(const struct writing *writing, const char *key, double ns,
			   const char *source)
{
	char text[32];

	write_line(writing, key, duration_text(text, sizeof(text), ns > 0 ? ns : 0), source);
}

static void write_number(const struct writing *writing, const char *key, double number,
			 const char *unit, const char *source)
{
	char text[48];

	snprintf(text, sizeof(text), "%.10g%s", number, unit);
	write_line(writing, key, text, source);
}

static void write_text(const struct writing *writing, const char *key, const char *value,
		       const char *source)
{
	char text[80];
	size_t used = 0;

	/* What would end the text, or the line, has no place in a name. */
	for (; *value && used + 4 < sizeof(text); value++)
		if (*value >= ' ' && *value != '"' && *value != '\\' && *value != 0x7f)
			text[++used] = *value;
	text[0] = text[used + 1] = '"';
	text[used + 2] = '\0';
	write_line(writing, key, text, source);
}

static double three_digits(double value)
{
	double digit = pow(10, floor(log10(value)) - 2);

	return round(value / digit) * digit;
}

/* In a comment, which the text does not end, and no byte of it is more than ASCII. */
static void write_remark(const struct writing *writing, const char *text)
{
	for (; *text; text++)
		fputc(*text >= ' ' && *text <= '~' ? *text : '?', writing->out);
}

static void write_head(const struct writing *writing, const char *source)
{
	const struct um_calibration *calibration = writing->calibration;
	const struct um_calibrated_card *card = &calibration->card;

	fputs("# One ", writing->out);
	write_remark(writing, card->name);
	fputs(", made by `umtrace calibrate` from ", writing->out);
	write_remark(writing, source);
	fputs(".\n#\n# [fit] fitted to what was measured there (driver ", writing->out);
	write_remark(writing, card->driver);
	fputs(", ", writing->out);
	write_remark(writing, card->date);
	fprintf(writing->out,
		"): what fits the\n# times of %zu configurations of tests/gpu/measure.hip best, and how far it is "
		"off.\n",
		calibration->configurations);
	if (calibration->left_out)
		fprintf(writing->out, "# %zu more were kept out, for testing (--test-set).\n",
			calibration->left_out);
	else
		fputs("# None was kept out (no --test-set): umsim check on these very configurations tells "
		      "how\n# good the fit is, not how good predictions are.\n",
		      writing->out);
	fputs("# [d] what the card's driver says of it. [derived] and [assumed] say so.\n",
	      writing->out);
}

static void write_card(const struct writing *writing, const char *name)
{
	const struct um_calibrated_card *card = &writing->calibration->card;
	double bandwidth =
		2.0 * (double)card->memory_clock_khz * 1e3 * (double)card->memory_bus_bits / 8;

	write_text(writing, "name", name, "");
	write_text(writing, "device_name", card->name, "[d]");
	write_text(writing, "arch", card->arch, "[d]");
	write_line(writing, "devices", "1", "the one that was measured");
	write_number(writing, "memory", (double)(card->memory_bytes >> 20), "MiB", "[d]");
	write_number(writing, "compute_units", (double)card->compute_units, "",
		     "[d] streaming multiprocessors");
	write_number(writing, "waves_per_unit", (double)(card->threads_per_unit / card->wave_lanes),
		     "", "[d] warps resident on one");
	write_number(writing, "wave_lanes", (double)card->wave_lanes, "", "[d]");
	write_number(writing, "clock_khz", (double)card->clock_khz, "", "[d]");
	write_number(writing, "memory_clock_khz", (double)card->memory_clock_khz, "", "[d]");
	write_number(writing, "memory_bus_bits", (double)card->memory_bus_bits, "", "[d]");
	write_number(writing, "l2", (double)(card->l2_bytes >> 10), "KiB", "[d]");
	write_number(writing, "memory_bandwidth", three_digits(bandwidth / 1e9), "GB/s",
		     "[derived] twice the clock times the bus");
	write_line(writing, "launch", LAUNCH, "[assumed] order of an empty kernel's latency");
	write_number(writing, "atomics_per_s", ATOMICS_PER_S, "",
		     "[assumed] on one address, as on an H200");
	write_line(writing, "xnack", "always",
		   "[assumed] devices since Pascal retry faults; NVIDIA has no such switch");
}

/* In groups that are more than one sample each their sums are told of as well. */
static void write_residuals(const struct writing *writing, const char *indent, const char *what,
			    const struct um_fit *fit)
{
	fprintf(writing->out,
		"%s# %zu %s:\n%s# %.1f %% off in the median, %.1f %% at the 90th percentile",
		indent, fit->samples, what, indent, fit->median_error * 100, fit->p90_error * 100);
	if (fit->groups > 1 && fit->groups < fit->samples)
		fprintf(writing->out, "; the sums of %zu\n%s# configurations %.1f %% and %.1f %%",
			fit->groups, indent, fit->group_median_error * 100,
			fit->group_p90_error * 100);
	fputs(".\n", writing->out);
}

/*
 * What a record costs cannot be more than what it is part of, which was measured with it: from one
 * repetition to the next the times with it and without differ by more.
 */
static double record_ns(const struct um_fit *record, const struct um_fit *whole, int term)
{
	return fmin(record->costs_ns[0], whole->costs_ns[term]);
}

static double transfer_record_ns(const struct um_calibration *calibration)
{
	return record_ns(&calibration->records, &calibration->to_device, UM_TRANSFER_TERM_EACH);
}

static double fault_record_ns(const struct um_calibration *calibration)
{
	return record_ns(&calibration->fault_records, &calibration->batches, UM_BATCH_TERM_PAGE);
}

static double cpu_fault_record_ns(const struct um_calibration *calibration)
{
	return record_ns(&calibration->cpu_fault_records, &calibration->cpu_faults,
			 UM_HOST_TERM_FAULT);
}

static double latency_ns(const struct um_calibration *calibration)
{
	return calibration->to_device.costs_ns[UM_TRANSFER_TERM_EACH] -
	       transfer_record_ns(calibration);
}

static double page_ns(const struct um_calibration *calibration)
{
	return calibration->batches.costs_ns[UM_BATCH_TERM_PAGE] - fault_record_ns(calibration);
}

static void write_link(const struct writing *writing)
{
	const struct um_calibration *calibration = writing->calibration;
	double to_device = 1e9 / calibration->to_device.costs_ns[UM_TRANSFER_TERM_BYTE];
	double to_host = 1e9 / calibration->to_host.costs_ns[UM_TRANSFER_TERM_BYTE];

	fputs("link:\n", writing->out);
	write_text(writing, "  name", calibration->card.link, "[d]");
	write_residuals(writing, "  ", "transfers to the device", &calibration->to_device);
	write_number(writing, "  to_device", three_digits(to_device / 1e9), "GB/s", "[fit]");
	write_duration(writing, "  to_device_latency", latency_ns(calibration),
		       "[fit] less to_device_record below");
	write_residuals(writing, "  ", "transfers to the host", &calibration->to_host);
	write_number(writing, "  to_host", three_digits(to_host / 1e9), "GB/s", "[fit]");
	write_duration(writing, "  to_host_latency",
		       calibration->to_host.costs_ns[UM_TRANSFER_TERM_EACH], "[fit]");
	write_number(writing, "  remote_request", REMOTE_BYTES, "B",
		     "[assumed] a cache line as the trace counts it");
	write_number(writing, "  remote_requests_per_s",
		     three_digits(to_device * REMOTE_SHARE / REMOTE_BYTES), "",
		     "[derived] from to_device, as on an H200");
}

static void write_tracing(const struct writing *writing)
{
	const struct um_calibration *calibration = writing->calibration;

	fputs("# What recording costs, from times with it and without.\ntracing:\n", writing->out);
	write_residuals(writing, "  ", "times with records of transfers", &calibration->records);
	write_duration(writing, "  to_device_record", transfer_record_ns(calibration),
		       "[fit] each transfer");
	write_residuals(writing, "  ", "times with records of faults too",
			&calibration->fault_records);
	write_duration(writing, "  fault_record", fault_record_ns(calibration),
		       "[fit] each page that faulted");
	write_residuals(writing, "  ", "times of the host", &calibration->cpu_fault_records);
	write_duration(writing, "  cpu_fault_record", cpu_fault_record_ns(calibration),
		       "[fit] each fault of the host that moves pages");
}

static void write_batch_costs(const struct writing *writing)
{
	const struct um_calibration *calibration = writing->calibration;
	const double *costs = calibration->batches.costs_ns;

	write_residuals(writing, "    ", "batches of faults, with the transfers in them",
			&calibration->batches);
	write_duration(writing, "    batch_time", costs[UM_BATCH_TERM_BATCH] - FETCH_NS,
		       "[fit] each, less fetch_time");
	write_duration(writing, "    block_time", costs[UM_BATCH_TERM_BLOCK], "[fit] each block");
	write_duration(writing, "    page_time", page_ns(calibration),
		       "[fit] each page that faulted, less fault_record");
	write_duration(writing, "    prefetched_page_time", costs[UM_BATCH_TERM_PREFETCHED],
		       "[fit] each page brought along");
	write_duration(writing, "    new_block_time", costs[UM_BATCH_TERM_NEW_BLOCK],
		       "[fit] a block's first memory");
	write_duration(writing, "    unmap_time", costs[UM_BATCH_TERM_UNMAP],
		       "[fit] a block that leaves the host");
	write_duration(writing, "    map_time", costs[UM_BATCH_TERM_MAP],
		       "[fit] a run that is mapped from afar");
	write_duration(writing, "    host_block_time", costs[UM_BATCH_TERM_HOST_BLOCK],
		       "[fit] 2 MiB made on the host");
	write_duration(writing, "    interrupt_time", costs[UM_BATCH_TERM_INTERRUPT] + FETCH_NS,
		       "[fit] the driver was idle");
	write_duration(writing, "    wake_time",
		       costs[UM_BATCH_TERM_WAKE] - costs[UM_BATCH_TERM_INTERRUPT],
		       "[fit] besides, if it had been for long");
}

static void write_drivers(const struct writing *writing)
{
	const struct um_calibration *calibration = writing->calibration;

	fputs("drivers:\n  nvidia_uvm:\n", writing->out);
	write_batch_costs(writing);
	write_residuals(writing, "    ", "faults of the host on what lay on the device",
			&calibration->cpu_faults);
	write_duration(writing, "    cpu_fault_time",
		       calibration->cpu_faults.costs_ns[UM_HOST_TERM_FAULT] -
			       cpu_fault_record_ns(calibration) - page_ns(calibration),
		       "[fit] each, less cpu_fault_record and page_time");
	write_duration(writing, "    cpu_page_time",
		       calibration->cpu_faults.costs_ns[UM_HOST_TERM_PAGE],
		       "[fit] each page that comes to the host");
}

int um_calibration_write(FILE *out, const struct um_calibration *calibration, const char *name,
			 const char *source)
{
	const struct writing writing = {out, calibration};

	write_head(&writing, source);
	write_card(&writing, name);
	write_link(&writing);
	write_tracing(&writing);
	write_drivers(&writing);
	return ferror(out) ? um_fail_errno(UM_EIO, "the machine file cannot be written") : 0;
}
