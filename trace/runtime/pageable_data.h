/*
 * Which pages of pageable memory hold data that the host put there: those that the kernel has in the
 * page table when a launch first touches their block of 2 MiB, and that no launch has touched before.
 * They are told as written by the host in the op before the launch. What the host does to a page
 * afterwards is not seen.
 *
 * A block, since that is what the kernel populates at once where it uses huge pages. All of a mapped
 * file is data.
 */
#ifndef UM_PAGEABLE_DATA_H
#define UM_PAGEABLE_DATA_H

#include <stdbool.h>
#include <stdint.h>

#define UM_PAGEABLE_BLOCK_PAGES 512u

/* Pages of one block that belong to one mapping. */
struct um_pageable_block {
	const char *start, *end; /* whole pages */
	uint64_t place;		 /* of the first page among all that are told apart */
	uint32_t allocation;
	uint32_t page; /* of the first page in the allocation */
	bool is_file;
};

/* Room for so many places. UM_ENOMEM. */
int um_pageable_data_init(uint64_t places);
void um_pageable_data_begin(void);
/* Before a page of the block is touched; does nothing but the first time in a launch. */
void um_pageable_data_look(const struct um_pageable_block *);
/* A kernel touched the page: it has data from now on. */
void um_pageable_data_touched(uint64_t place);
/* Other memory will lie there. Whole blocks. */
void um_pageable_data_forget(uint64_t place, uint64_t pages);
/* Sends what is left; after the launch, or instead of one. */
void um_pageable_data_end(void);

#endif
