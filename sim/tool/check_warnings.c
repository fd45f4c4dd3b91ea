/*
 * Whether what was simulated is what was measured: the card by its name, memory, compute units and link, as
 * far as its trace tells them, the driver, and what the accesses were traced for.
 */
#include "check_command.h"
#include "replay.h"

#include "trace/base/error.h"
#include "trace/base/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* What drivers and cards take for themselves of a memory is less. */
#define MEMORY_TOLERANCE 0.02

/* Of two devices, what they are told apart by; 0 and "": not told. */
struct device {
	const char *name, *link;
	uint64_t memory_bytes, compute_units, wave_lanes;
};

static struct device device_of_card(const struct um_check_card *card)
{
	return (struct device){card->name, card->link, card->memory_bytes, card->compute_units,
			       card->wave_lanes};
}

static struct device device_of_machine(const struct um_machine_spec *machine)
{
	return (struct device){machine->device_name, machine->link.name, machine->memory_bytes,
			       machine->compute_units, machine->wave_lanes};
}

__attribute__((format(printf, 2, 3))) static int warn(struct um_check_model *model,
						      const char *format, ...)
{
	char *text;
	va_list args;
	int wanted;

	if (model->warning_count == UM_CHECK_WARNINGS_MAX)
		return 0;
	va_start(args, format);
	wanted = vasprintf(&text, format, args);
	va_end(args);
	if (wanted < 0)
		return um_fail(UM_ENOMEM, "no memory for a warning");
	model->warnings[model->warning_count++] = text;
	return 0;
}

/* --- two devices --- */

__attribute__((format(printf, 3, 4))) static void add(char *list, size_t capacity,
						      const char *format, ...)
{
	size_t used = strlen(list);
	va_list args;

	va_start(args, format);
	if (used + 2 < capacity && used)
		used += (size_t)snprintf(list + used, capacity - used, "; ");
	vsnprintf(list + used, capacity - used, format, args);
	va_end(args);
}

static bool is_other_memory(const struct device *a, const struct device *b)
{
	double one = (double)a->memory_bytes, other = (double)b->memory_bytes;

	return one > 0 && other > 0 && fabs(one - other) > MEMORY_TOLERANCE * fmax(one, other);
}

static bool is_other_name(const char *a, const char *b)
{
	return *a && *b && strcasecmp(a, b) != 0;
}

/* "memory 31.73 GiB, measured 139.8 GiB; ..."; "": they do not differ, as far as both are known. */
static void list_differences(char *list, size_t capacity, const struct device *here,
			     const struct device *measured)
{
	char one[32], other[32];

	*list = '\0';
	if (is_other_name(here->name, measured->name))
		add(list, capacity, "%.63s, measured %.63s", here->name, measured->name);
	if (is_other_memory(here, measured))
		add(list, capacity, "memory %s, measured %s",
		    um_format_bytes(one, sizeof(one), here->memory_bytes),
		    um_format_bytes(other, sizeof(other), measured->memory_bytes));
	if (here->compute_units && measured->compute_units &&
	    here->compute_units != measured->compute_units)
		add(list, capacity, "%llu compute units, measured %llu",
		    (unsigned long long)here->compute_units,
		    (unsigned long long)measured->compute_units);
	if (is_other_name(here->link, measured->link))
		add(list, capacity, "link %.63s, measured %.63s", here->link, measured->link);
}

/* --- the driver --- */

/* "580" of "580.159.04". */
static bool is_other_branch(const struct um_replay *replay, const char *version, char *branch,
			    size_t capacity)
{
	const struct um_param_value *param =
		um_param_find(replay->policy->params, replay->policy->driver->params, "version");

	if (!param || !*version)
		return false;
	um_param_text(branch, capacity, param);
	return strtol(branch, NULL, 10) != strtol(version, NULL, 10);
}

static int warn_of_driver(struct um_check_model *model, const struct um_replay *replay,
			  const struct um_check_card *measured)
{
	const char *driver = replay->policy->driver->name;
	char branch[64];

	if (measured->is_cupti && strcmp(driver, "nvidia_uvm") != 0)
		return warn(
			model,
			"the driver is not the one that was measured: %s, measured NVIDIA's%s%s",
			driver, *measured->driver_version ? " " : "", measured->driver_version);
	if (is_other_branch(replay, measured->driver_version, branch, sizeof(branch)))
		return warn(model,
			    "the driver's rules are those of branch %s (driver: {version: ...} of "
			    "a policy), measured was %s",
			    branch, measured->driver_version);
	return 0;
}

/* --- together --- */

int um_check_warn(struct um_check_model *model, const struct um_replay *replay,
		  const struct um_check_card *accesses, const struct um_check_card *measured)
{
	const struct device machine = device_of_machine(replay->machine),
			    card = device_of_card(measured), played = device_of_card(accesses);
	char list[512];
	int error = 0;

	list_differences(list, sizeof(list), &machine, &card);
	if (*list)
		error = warn(model, "machine %s is not the card that was measured: %s",
			     replay->machine->name, list);
	if (!error)
		error = warn_of_driver(model, replay, measured);
	list_differences(list, sizeof(list), &played, &card);
	if (*list && !error)
		error = warn(model,
			     "the accesses were traced for another card (umtrace --machine), so "
			     "that a program that asks for it may have done otherwise: %s",
			     list);
	return error;
}
