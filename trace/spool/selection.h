/*
 * Which launches are recorded in detail: what umtrace was asked for (--kernels, --exclude-kernels,
 * --launches, --ranges, --profile-from-start), as text in the spool's configuration, and what of it
 * holds for a name or a number. Criteria of one kind are alternatives, those of several kinds hold
 * together; a kernel that is excluded is out. Used within the program (the runtime decides before a
 * launch) and by umtrace (which decides of launches on a GPU as their records come).
 */
#ifndef UM_SELECTION_H
#define UM_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum um_criterion {
	UM_SELECT_KERNELS,	      /* pattern of a kernel's name */
	UM_SELECT_EXCLUDE_KERNELS,    /* the same */
	UM_SELECT_LAUNCHES,	      /* "10..20", "10..", "..20", "10", from 1 */
	UM_SELECT_RANGES,	      /* pattern of a range's name */
	UM_SELECT_PROFILE_FROM_START, /* "off" */
	UM_CRITERIA
};
/* As umtrace's options and table `selection` have them: "kernels", "exclude-kernels", ... */
extern const char *const um_criterion_names[UM_CRITERIA];

/* Of the text, its end included. */
#define UM_SELECTION_BYTES 2560u

/*
 * Adds a criterion to `text`, which is empty at first. UM_EINVAL: it cannot be, the message says why
 * and begins with the option; UM_ELIMIT: they are longer together than UM_SELECTION_BYTES allows.
 */
int um_selection_add(char text[UM_SELECTION_BYTES], enum um_criterion, const char *value);

/* Steps through the text: *at is NULL at first. False: there is no more. */
bool um_selection_next(const char *text, const char **at, enum um_criterion *, const char **value);
/* Whether anything of that kind was asked for. */
bool um_selection_has(const char *text, enum um_criterion);

/* Whether the pattern holds for a kernel: for its demangled name, or less its arguments, or less its
 * template arguments too. */
bool um_selection_is_kernel(const char *pattern, const char *demangled);
/* "10..20" as numbers; an open end is UINT64_MAX. False: it is none. */
bool um_selection_launches(const char *value, uint64_t *first, uint64_t *last);

/* Whether the kernel is let through by --kernels and --exclude-kernels. */
bool um_selection_takes_kernel(const char *text, const char *demangled);
/*
 * Whether a launch is let through by --launches: the `of_run`-th of the run, and of its kernel the
 * `of_kernel`-th, which is what counts with --kernels. Both from 1, selected or not.
 */
bool um_selection_takes_launch(const char *text, uint64_t of_run, uint64_t of_kernel);
/* Whether --ranges names a range so; false without --ranges. */
bool um_selection_takes_range(const char *text, const char *name);

#endif
