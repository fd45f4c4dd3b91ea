/*
 * What the tests of driver amdgpu_svm's rules share. Each test is named after its rule and names
 * the kernel's function that has it; expected figures are worked out by hand from that function
 * alone. "6.8" is kfd_svm.c and kfd_migrate.c of 6.8 and later, "6.6" of 6.6.
 *
 * The machine of trace_fixture.h with 1 GiB, so that ranges have up to 32 MiB: a window of 512
 * pages that all have data takes WINDOW_NS, nothing else takes time.
 */
#ifndef UM_SVM_RULES_H
#define UM_SVM_RULES_H

#include "row_log.h"
#include "trace_fixture.h"

#define MIB	  ((int64_t)1 << 20)
#define WINDOW	  512
#define WINDOW_NS ((int64_t)LATENCY_NS + WINDOW * PAGE_NS)
#define PAGES(n)  ((int64_t)(n)*PAGE)
/* kfd_svm.c: AMDGPU_SVM_RANGE_RETRY_FAULT_PENDING, AMDGPU_SVM_RANGE_RESTORE_DELAY_MS */
#define PENDING_NS 2000000
#define RESTORE_NS 1000000

struct svm {
	struct trace_fixture fx;
	struct row_log log;
};

/* Parameters of the driver, in the policy file's words: "xnack: on, kernel: '6.6'". */
void svm_open(struct svm *, const char *parameters);
void svm_close(struct svm *);
/* The same again, or with other keys of a policy file behind the driver's; for the next run. */
void svm_choose(struct svm *, const char *parameters, const char *more_keys);
void svm_run(struct svm *);

/* Managed memory, and managed memory that the host has written. */
int64_t svm_alloc(struct svm *, int64_t pages);
int64_t svm_data(struct svm *, int64_t pages);
/* A launch on the fixture's device of one group that reads or writes pages in order. */
int64_t svm_read(struct svm *, int64_t allocation, int64_t first, int64_t pages);
int64_t svm_write(struct svm *, int64_t allocation, int64_t first, int64_t pages);
/* The same, on a stream, without a sync behind it. */
int64_t svm_launch(struct svm *, int64_t allocation, int64_t first, int64_t pages, bool write,
		   int64_t stream);
/* A prefetch on stream 0, and a sync. */
int64_t svm_prefetch(struct svm *, int64_t allocation, int64_t first, int64_t pages,
		     int64_t device);
/* Device memory, so that less is left for ranges. */
void svm_leave(struct svm *, int64_t bytes);

#endif
