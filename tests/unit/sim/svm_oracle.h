/*
 * The rules of amdkfd's shared virtual memory once more, page by page and as plainly as can be, to
 * hold driver amdgpu_svm against: one thing after the other, without time.
 * Written from kfd_svm.c and kfd_migrate.c, function by function, under the kernel's own names.
 *
 * In two things it is the model and not the kernel. A piece of a range whose old place is still
 * part of a buffer object on the device goes there; amdkfd makes another object if the piece was cut
 * off while nothing of it was on the device, or was on another device since. And outside a hive,
 * amdkfd maps a range that is partly on a device to no other one, not even its pages in host memory
 * (svm_range_map_to_gpus), so that an access in place from there would fault for ever.
 */
#ifndef UM_SVM_ORACLE_H
#define UM_SVM_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#define ORACLE_ALLOCATIONS 8
#define ORACLE_PAGES	   2048
#define ORACLE_DEVICES	   2
#define ORACLE_RANGES	   ORACLE_PAGES
#define ORACLE_BOS	   4096
#define ORACLE_HOST	   (-1)
#define ORACLE_NOWHERE	   (-2)
#define ORACLE_RANGE_PAGES 512 /* the longest: all allocations begin at multiples of 2 MiB */

enum oracle_flag { ORACLE_COHERENT = 2, ORACLE_READ_MOSTLY = 0x20 };
enum oracle_attribute {
	ORACLE_PREFERRED,
	ORACLE_PREFETCH,
	ORACLE_ACCESS,
	ORACLE_IN_PLACE,
	ORACLE_SET_FLAGS,
	ORACLE_CLEAR_FLAGS
};

/* Of one operation. */
struct oracle_result {
	int64_t device_faults, host_faults;
	int64_t pages_in[ORACLE_DEVICES], pages_out[ORACLE_DEVICES]; /* copied, by device */
	int64_t remote_pages;					     /* accessed, not copied */
	int64_t refused;
};

struct oracle_range {
	int first, pages;
	int preferred, prefetch, actual;
	unsigned access, in_place, flags;
	bool mapped_to_gpu;
	bool holds; /* a reference to svm_bo (the kernel's ttm_res) */
	int svm_bo;
};

struct oracle_page {
	int place;
	bool data;
	bool mapped[ORACLE_DEVICES];
};

struct oracle_allocation {
	int pages, range_count;
	struct oracle_range ranges[ORACLE_RANGES];
	struct oracle_page page[ORACLE_PAGES];
};

struct oracle_bo {
	const struct oracle_range *ranges; /* of its allocation */
	int device, first, pages, holders; /* holders 0: dead */
};

struct oracle_setup {
	int devices, granule;
	int64_t memory_pages; /* of each device */
	bool hive, xnack;
	bool old; /* kernel 6.6 */
};

struct oracle {
	struct oracle_setup setup;
	int64_t device_pages[ORACLE_DEVICES], bo_pages[ORACLE_DEVICES];
	struct oracle_allocation allocations[ORACLE_ALLOCATIONS]; /* by id */
	struct oracle_bo bos[ORACLE_BOS];			  /* in the order of their making */
	int bo_count;
	struct oracle_result result;
};

void oracle_init(struct oracle *, const struct oracle_setup *);
void oracle_alloc(struct oracle *, int allocation, int pages);
/* Device memory that the program allocates. */
void oracle_take(struct oracle *, int device, int64_t pages);
void oracle_host(struct oracle *, int allocation, int first, int pages);
void oracle_kernel(struct oracle *, int device, int allocation, int first, int pages);
void oracle_set(struct oracle *, int allocation, int first, int pages, enum oracle_attribute,
		int value);

#endif
