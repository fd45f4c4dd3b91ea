#include "launch_selection.h"
#include "tracer.h"
#include "../spool/selection_state.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef char *demangle_fn(const char *, char *, size_t *, int *);

static struct um_selection_state state;

/*
 * The C++ library's, which HIP programs have; one in C alone gets it for this. NULL: there is none, and
 * patterns are held against symbols.
 */
static demangle_fn *find_demangler(void)
{
	void *function = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	void *library = function ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	demangle_fn *found;

	if (library)
		function = dlsym(library, "__cxa_demangle");
	memcpy(&found, &function, sizeof(found));
	return found;
}

/* The compiler's names of kernels in C++ begin so; of others they are the source's own. */
static char *demangle(const char *symbol)
{
	demangle_fn *function = strncmp(symbol, "_Z", 2) == 0 ? find_demangler() : NULL;
	int status;

	return function ? function(symbol, NULL, NULL, &status) : NULL;
}

static struct um_selection_state *settled(void)
{
	const struct um_spool_config *config = um_tracer_config();

	if (!state.text)
		um_selection_begin(&state, config ? config->selection : "", demangle);
	return &state;
}

bool um_range_selects(const char *name)
{
	return um_selection_takes_range(settled()->text, name);
}

void um_profiler_switch(bool on, uint32_t thread)
{
	um_selection_switch(settled(), on, thread);
}

bool um_launch_is_selected(const char *symbol)
{
	uint32_t thread = settled()->paused_count ? (uint32_t)gettid() : 0;

	return um_selection_launch(&state, symbol, thread, um_in_selecting_range());
}
