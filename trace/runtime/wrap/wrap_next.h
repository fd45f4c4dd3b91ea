/* For both files: the function that a wrapper stands before. */
#ifndef UM_WRAP_NEXT_H
#define UM_WRAP_NEXT_H

#include "wrap.h"

#include <dlfcn.h>
#include <stdatomic.h>

#define UM_WRAPPED __attribute__((visibility("default")))

/* NULL until um_wrap_start(). */
extern const struct um_wrap_hooks *_Atomic um_wrap_hooks;

/* The next definition of `name`, looked up once. */
#define UM_NEXT(name)                                                                              \
	__extension__({                                                                            \
		static void *_Atomic next;                                                         \
		void *found = atomic_load_explicit(&next, memory_order_relaxed);                   \
		if (!found) {                                                                      \
			found = dlsym(RTLD_NEXT, #name);                                           \
			atomic_store_explicit(&next, found, memory_order_relaxed);                 \
		}                                                                                  \
		(__typeof__(name) *)found;                                                         \
	})

#endif
