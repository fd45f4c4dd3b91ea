/*
 * What the programs in this folder share: checked HIP calls and a table of options. Plain HIP and
 * the C library, so that each program also compiles with any hipcc and runs on any GPU.
 */
#ifndef KERNEL_COMMON_H
#define KERNEL_COMMON_H

#include <hip/hip_runtime.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIP_CHECK(call) check_hip((call), #call, __FILE__, __LINE__)

static inline void check_hip(hipError_t error, const char *call, const char *file, int line)
{
	if (error == hipSuccess)
		return;
	fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, hipGetErrorString(error));
	exit(1);
}

/* An option of a program: exactly one of number, flag and text is set. */
struct option_row {
	const char *name, *argument, *help;
	long *number; /* at least 1 */
	bool *flag;
	const char **text;
	char letter; /* of a short option, 0 if it has none */

	/* Stock hipcc takes this for C++11, where a default would make it no aggregate. */
	option_row(const char *name_, const char *argument_, const char *help_, long *number_,
		   bool *flag_, const char **text_, char letter_ = 0)
	    : name(name_), argument(argument_), help(help_), number(number_), flag(flag_),
	      text(text_), letter(letter_)
	{
	}
};

static inline void print_usage(const char *program, const char *summary,
			       const struct option_row *rows, int count)
{
	printf("usage: %s [options]\n%s\n\n", program, summary);
	for (int i = 0; i < count; i++) {
		char left[64], letter[8] = "";
		if (rows[i].letter)
			snprintf(letter, sizeof(letter), "-%c, ", rows[i].letter);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, rows[i].name,
			 rows[i].argument ? "=" : "", rows[i].argument ? rows[i].argument : "");
		printf("  %-24s %s\n", left, rows[i].help);
	}
}

static inline void set_option(const struct option_row *row, const char *value)
{
	if (row->flag) {
		*row->flag = true;
	} else if (row->text) {
		*row->text = value;
	} else {
		char *end;
		errno = 0;
		*row->number = strtol(value, &end, 0);
		if (end == value || *end || errno || *row->number < 1) {
			fprintf(stderr, "--%s: \"%s\" is not a whole number of at least 1\n",
				row->name, value);
			exit(2);
		}
	}
}

#define MAX_OPTIONS 16

/* Reads the command line: --help prints the table and exits 0, anything unknown exits 2. */
static inline void parse_options(int argc, char **argv, const char *summary,
				 const struct option_row *rows, int count)
{
	struct option options[MAX_OPTIONS + 2] = {};
	char letters[2 * MAX_OPTIONS + 1] = "", *letter = letters;
	for (int i = 0; i < count; i++) {
		options[i] = {rows[i].name, rows[i].argument ? required_argument : no_argument,
			      nullptr, i};
		if (!rows[i].letter)
			continue;
		*letter++ = rows[i].letter;
		if (rows[i].argument)
			*letter++ = ':';
	}
	options[count] = {"help", no_argument, nullptr, MAX_OPTIONS};
	for (int found; (found = getopt_long(argc, argv, letters, options, nullptr)) != -1;) {
		if (found == MAX_OPTIONS) {
			print_usage(argv[0], summary, rows, count);
			exit(0);
		}
		if (found == '?')
			exit(2);
		for (int i = 0; found > MAX_OPTIONS && i < count; i++)
			if (rows[i].letter == found)
				found = i;
		set_option(&rows[found], optarg);
	}
	if (optind < argc) {
		fprintf(stderr, "%s: unexpected argument \"%s\"\n", argv[0], argv[optind]);
		exit(2);
	}
}

/* Which of the names a text option has; another one exits 2. */
static inline int choice_of(const char *option, const char *value, const char *const *names,
			    int count)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(value, names[i]))
			return i;
	fprintf(stderr, "--%s: \"%s\" is none of", option, value);
	for (int i = 0; i < count; i++)
		fprintf(stderr, "%s %s", i ? "," : "", names[i]);
	fprintf(stderr, "\n");
	exit(2);
}

#define ADVICE_CHOICES                                                                             \
	"preferred-host, preferred-device, accessed-by, read-mostly, coarse-grain, joined by "     \
	"commas"

/* Gives the advice in `list` (ADVICE_CHOICES, or NULL for none) for the allocation. */
static inline void give_advice(const void *memory, size_t bytes, const char *list, int device)
{
	static const struct {
		const char *name;
		hipMemoryAdvise advice;
		bool host;
	} choices[] = {
		{"preferred-host", hipMemAdviseSetPreferredLocation, true},
		{"preferred-device", hipMemAdviseSetPreferredLocation, false},
		{"accessed-by", hipMemAdviseSetAccessedBy, false},
		{"read-mostly", hipMemAdviseSetReadMostly, false},
		{"coarse-grain", hipMemAdviseSetCoarseGrain, false},
	};
	while (list && *list) {
		size_t length = strcspn(list, ",");
		bool known = false;
		for (const auto &choice : choices) {
			if (strlen(choice.name) != length || strncmp(choice.name, list, length))
				continue;
			HIP_CHECK(hipMemAdvise(memory, bytes, choice.advice,
					       choice.host ? hipCpuDeviceId : device));
			known = true;
		}
		if (!known) {
			fprintf(stderr, "--advise: \"%.*s\" is none of %s\n", (int)length, list,
				ADVICE_CHOICES);
			exit(2);
		}
		list += length + (list[length] == ',');
	}
}

/* Prints the verdict; the exit status of main. */
static inline int report(const char *program, long wrong)
{
	if (wrong == 0)
		printf("%s: ok\n", program);
	else
		printf("%s: %ld wrong\n", program, wrong);
	return wrong != 0;
}

#endif
