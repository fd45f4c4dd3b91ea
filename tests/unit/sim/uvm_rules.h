/*
 * What the tests of driver nvidia_uvm's rules share. Each test is named after its rule and names the
 * function of NVIDIA's kernel module (kernel-open/nvidia-uvm, release 580.142 where no other is
 * named) that has it; expected figures are worked out by hand from that function alone.
 *
 * The machine of trace_fixture.h with 1 GiB and 1024 groups of one warp in flight. Service takes no
 * time of its own: a record of p pages takes RECORD_NS(p).
 */
#ifndef UM_UVM_RULES_H
#define UM_UVM_RULES_H

#include "row_log.h"
#include "trace_fixture.h"

#define MIB	     ((int64_t)1 << 20)
#define BLOCK	     512 /* pages of a VA block */
#define PAGES(n)     ((int64_t)(n)*PAGE)
#define RECORD_NS(n) ((int64_t)LATENCY_NS + (n)*PAGE_NS)

struct uvm {
	struct trace_fixture fx;
	struct row_log log;
};

/* Parameters of the driver, in the policy file's words: "version: '590'"; NULL: none. */
void uvm_open(struct uvm *, const char *parameters);
void uvm_close(struct uvm *);
/* Other parameters for the next run. */
void uvm_choose(struct uvm *, const char *parameters);
void uvm_run(struct uvm *);

/* Managed memory, and managed memory that the host has written, page by page. */
int64_t uvm_alloc(struct uvm *, int64_t pages);
int64_t uvm_data(struct uvm *, int64_t pages);
int64_t uvm_host_read(struct uvm *, int64_t allocation, int64_t first, int64_t pages);
int64_t uvm_host_write(struct uvm *, int64_t allocation, int64_t first, int64_t pages);

/*
 * Launches of one group that touches one page after the other, [first, first + pages) or a list; of
 * one group for each of `groups` pages, `stride` apart, side by side. A sync follows each.
 */
int64_t uvm_read(struct uvm *, int64_t allocation, int64_t first, int64_t pages);
int64_t uvm_write(struct uvm *, int64_t allocation, int64_t first, int64_t pages);
int64_t uvm_read_pages(struct uvm *, int64_t allocation, const int *pages, int count);
int64_t uvm_read_at_once(struct uvm *, int64_t allocation, const int *pages, int count);
int64_t uvm_read_each(struct uvm *, int64_t allocation, int64_t first, int64_t stride, int groups);

/* A prefetch on stream 0, and a sync. */
int64_t uvm_prefetch(struct uvm *, int64_t allocation, int64_t first, int64_t pages,
		     int64_t device);
/* Device memory, so that less is left for managed memory. */
void uvm_leave(struct uvm *, int64_t bytes);

/* Of op; op 0: of all. Device faults are those of device 0. */
int64_t uvm_device_faults(const struct uvm *, int64_t op);
int64_t uvm_host_faults(const struct uvm *, int64_t op);
int64_t uvm_pages_in(const struct uvm *, int64_t op);	   /* host to device 0 */
int64_t uvm_pages_out(const struct uvm *, int64_t op);	   /* device 0 to host */
int64_t uvm_pages_evicted(const struct uvm *, int64_t op); /* of those */
int64_t uvm_pages_remote(const struct uvm *, int64_t op);  /* that device 0 read on the host */

struct uvm_record {
	const char *cause;
	int64_t first, pages;
};
#define FAULT(first, pages)	    "device_fault", first, pages
#define HOST_FAULT(first, pages)    "host_fault", first, pages
#define BROUGHT_ALONG(first, pages) "driver_prefetch", first, pages

/* That op's records of pages copied to `destination` are these, in this order. */
void uvm_expect_records(const struct uvm *, int64_t op, int64_t destination,
			const struct uvm_record *, size_t count);
#define EXPECT_RECORDS(uvm, op, destination, ...)                                                  \
	do {                                                                                       \
		static const struct uvm_record wanted[] = {__VA_ARGS__};                           \
                                                                                                   \
		uvm_expect_records(uvm, op, destination, wanted,                                   \
				   sizeof(wanted) / sizeof(wanted[0]));                            \
	} while (0)

#endif
