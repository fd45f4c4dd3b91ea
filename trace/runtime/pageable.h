/*
 * Memory that HIP did not allocate and kernels use all the same: the program's heap, its stacks, its
 * variables, files that it mapped (umtrace --pageable). Each mapping becomes an allocation of kind
 * 'pageable' when a kernel first touches it.
 *
 * The recorder knows pages by number; those of the arena come first, and here each mapping gets
 * numbers behind them, so that window, recorder and stream treat all memory alike. Only hooks that
 * have found an address outside the arena come here: um_pageable_line() remembers pages, and looks
 * where it does not know one at the mappings as the launch first had them (host_snapshot.h). Hooks are plain calls of the launching thread, never
 * within a signal handler of ours, so a look may open files and allocate.
 *
 * Rules
 *   an allocation is the mapping as it is when first touched, less what is known already: where a
 *     mapping grows (the heap by brk, the stack, neighbours that the kernel joins to it), what was
 *     added is an allocation of its own;
 *   of a mapping above 16 GiB, which is address space rather than memory, the gibibyte that is
 *     touched is one;
 *   before a launch the mappings are looked at again: what went away leaves its allocation, and an
 *     allocation of which nothing is left is freed by an op of its own;
 *   memory that hipHostRegister() knows counts as the registered allocation, in whole pages from the
 *     one that it begins in;
 *   variables of code objects, LDS and what is not mapped stay outside.
 * Limits: memory that was unmapped and mapped anew at one place between two launches is taken for the
 * same; what malloc() of device code gives lies in the program's heap and counts as that.
 *
 * Callers hold the runtime lock.
 */
#ifndef UM_PAGEABLE_H
#define UM_PAGEABLE_H

#include "arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Pages that the recorder can tell apart when this is on: lines are numbered in 32 bits. */
#define UM_PAGEABLE_PAGES_END (UINT64_C(1) << (32 + UM_LINE_SHIFT - UM_PAGE_SHIFT))

/* umtrace --pageable; set before the first launch. */
extern bool um_pageable;

/* Before a launch's op. */
void um_pageable_refresh(void);
/* A launch that is recorded begins; 0: one that is not. UM_ENOMEM. */
int um_pageable_begin(uint32_t op);
void um_pageable_end(void);
/* A launch that is recorded is under way, and um_pageable_line() may be called. */
bool um_pageable_active(void);
/* The line of the address, at or above those of the arena; 0: it stays outside. */
uint32_t um_pageable_line(const void *address);
/* Where the line lies. */
const void *um_pageable_address(uint32_t line);
/*
 * For a page that um_pageable_line() has given out: a kernel touched it. *first_page: the number
 * that the recorder has for the first page of the allocation.
 */
uint32_t um_pageable_touch(uint32_t page, uint32_t *first_page);
/* hipHostRegister() and hipHostUnregister() of these bytes: whose they are has changed. */
void um_pageable_forget(const void *start, uint64_t bytes);
/* How many allocations lost a part of their mapping and kept the rest. */
uint64_t um_pageable_shrunk(void);
/* In the child of a fork. */
void um_pageable_child(void);

#endif
