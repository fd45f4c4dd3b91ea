#include "calibrate.h"

#include "calibrate_card.h"
#include "calibrate_times.h"
#include "sim/check/check_table.h"
#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>

/* Fewer say nothing of a driver: measure.hip's shortest configurations alone have more. */
#define BATCHES_LEAST 100

/* --- configurations that have no part in it --- */

struct left_out {
	struct um_check_names names;
	size_t count;
};

static bool is_left_out(void *context, const char *name)
{
	struct left_out *left_out = context;
	bool is_there = um_check_names_have(&left_out->names, name);

	left_out->count += is_there;
	return is_there;
}

/* A list that names none of them is of something else. */
static int check_left_out(const struct left_out *left_out, const char *path)
{
	if (!left_out->names.count || left_out->count)
		return 0;
	return um_fail(UM_EFORMAT, "%s names no configuration that was measured", path);
}

/* --- the parts --- */

#define TRACE_FILE "configurations.um.db"
#define TIMES_FILE "times.tsv"

/* Says of what, and in which file, there is too little. */
static int say_where(int error, const char *folder, const char *file, const char *what)
{
	char message[512];

	if (error != UM_ELIMIT)
		return error;
	snprintf(message, sizeof(message), "%s", um_error_message());
	return um_fail(error, "%s/%s: %s: %s", folder, file, what, message);
}

static int fit_link(struct um_fit *fit, const struct um_measured *measured, bool to_device)
{
	struct um_samples samples = {0};
	int error = um_calibrate_transfers(&samples, measured, to_device);

	if (!error && !samples.count)
		error = um_fail(UM_ELIMIT, "none took longer than 0 ns, or there is none");
	if (!error)
		error = um_least_squares(fit, &samples);
	um_samples_free(&samples);
	if (!error && fit->costs_ns[UM_TRANSFER_TERM_BYTE] <= 0)
		error = um_fail(UM_ELIMIT, "the transfers tell of no bandwidth");
	return error;
}

static int fit_batches(struct um_calibration *calibration, const struct um_measured *measured)
{
	struct um_samples samples = {0};
	int error = um_calibrate_batches(&samples, measured, calibration->to_device.costs_ns);

	if (!error && samples.count < BATCHES_LEAST)
		error = um_fail(UM_ELIMIT, "%zu batches of faults are too few: %d are needed",
				samples.count, BATCHES_LEAST);
	if (!error)
		error = um_least_squares(&calibration->batches, &samples);
	um_samples_free(&samples);
	return error;
}

static int fit_cpu_faults(struct um_calibration *calibration, const struct um_measured *measured)
{
	struct um_samples samples = {0};
	int error = um_calibrate_host_faults(&samples, measured, calibration->to_host.costs_ns);

	/* What the host does with what came is in these times too, and not in most of them. */
	if (!error)
		error = um_least_deviations(&calibration->cpu_faults, &samples);
	um_samples_free(&samples);
	return error;
}

static int fit_tracing(struct um_calibration *calibration, const struct um_measured *measured,
		       const struct um_times *times)
{
	static int (*const parts[])(struct um_samples *, const struct um_measured *,
				    const struct um_times *) = {
		um_calibrate_records, um_calibrate_fault_records, um_calibrate_cpu_fault_records};
	struct um_fit *const fits[] = {&calibration->records, &calibration->fault_records,
				       &calibration->cpu_fault_records};
	int error = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !error; i++) {
		struct um_samples samples = {0};

		error = parts[i](&samples, measured, times);
		if (!error)
			error = um_least_squares(fits[i], &samples);
		um_samples_free(&samples);
	}
	return error;
}

static int fit_all(struct um_calibration *calibration, const char *folder,
		   const struct um_measured *measured, const struct um_times *times)
{
	int error = say_where(fit_link(&calibration->to_device, measured, true), folder, TRACE_FILE,
			      "transfers to the device");

	if (!error)
		error = say_where(fit_link(&calibration->to_host, measured, false), folder,
				  TRACE_FILE, "transfers to the host");
	if (!error)
		error = say_where(fit_batches(calibration, measured), folder, TRACE_FILE,
				  "faults of the device");
	if (!error)
		error = say_where(fit_cpu_faults(calibration, measured), folder, TRACE_FILE,
				  "faults of the host");
	if (!error)
		error = say_where(fit_tracing(calibration, measured, times), folder, TIMES_FILE,
				  "what recording costs");
	return error;
}

/* --- the folder --- */

static int in_folder(char **out, const char *folder, const char *name)
{
	if (asprintf(out, "%s/%s", folder, name) >= 0)
		return 0;
	*out = NULL;
	return um_fail(UM_ENOMEM, "out of memory");
}

static int read_card(struct um_calibrated_card *card, const char *folder)
{
	char *path;
	int error = in_folder(&path, folder, "machine.tsv");

	if (!error)
		error = um_calibrated_card_read(card, path);
	free(path);
	return error;
}

static int read_times(struct um_times *times, const char *folder)
{
	char *path;
	int error = in_folder(&path, folder, TIMES_FILE);

	if (!error)
		error = um_times_read(times, path);
	free(path);
	return error;
}

static int read_trace(struct um_measured *measured, const char *folder, struct left_out *left_out)
{
	char *path;
	int error = in_folder(&path, folder, TRACE_FILE);

	if (!error)
		error = um_measured_read(measured, path, is_left_out, left_out);
	free(path);
	return error;
}

static int fit_folder(struct um_calibration *calibration, const char *folder,
		      const struct um_measured *measured)
{
	struct um_times times;
	int error = read_card(&calibration->card, folder);

	snprintf(calibration->card.arch, sizeof(calibration->card.arch), "%s", measured->arch);
	if (!error)
		error = read_times(&times, folder);
	if (error)
		return error;
	error = fit_all(calibration, folder, measured, &times);
	um_times_free(&times);
	return error;
}

int um_calibrate(struct um_calibration *calibration, const char *folder, const char *test_set)
{
	struct left_out left_out = {0};
	struct um_measured measured;
	int error = test_set ? um_check_names_read(&left_out.names, test_set) : 0;

	*calibration = (struct um_calibration){.left_out = 0};
	if (!error)
		error = read_trace(&measured, folder, &left_out);
	if (!error) {
		error = check_left_out(&left_out, test_set);
		if (!error)
			error = fit_folder(calibration, folder, &measured);
		calibration->configurations = measured.range_count;
		calibration->left_out = left_out.count;
		um_measured_free(&measured);
	}
	um_check_names_free(&left_out.names);
	return error;
}
