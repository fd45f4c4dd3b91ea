/* Between cmd_machine.c and what it prints (machine_render.c, machine_render_json.c). */
#ifndef UM_MACHINE_RENDER_H
#define UM_MACHINE_RENDER_H

#include "sim/machine/machine_file.h"
#include "sim/policy/policy.h"

#include <stdio.h>

/* A machine with the driver that it gets and that driver's parameters there. */
struct um_machine_shown {
	const struct um_machine_spec *machine;
	const struct um_policy *policy; /* settled on the machine */
};
/* Whether the machine's file sets this parameter of its driver. */
bool um_machine_sets(const struct um_machine_spec *, const char *driver, const char *parameter);

/* UM_ENOMEM, UM_EIO; so all of them. */
int um_machine_list_text(FILE *, struct um_machine_spec *const *, size_t count);
int um_machine_list_json(FILE *, struct um_machine_spec *const *, size_t count);
int um_machine_keys_text(FILE *);
int um_machine_keys_json(FILE *);
int um_machine_show_text(FILE *, const struct um_machine_shown *);
int um_machine_show_json(FILE *, const struct um_machine_shown *);

#endif
