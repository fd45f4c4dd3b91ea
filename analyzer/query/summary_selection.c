/* Which launches were recorded in detail, and what the recorded ones say of the others. */
#include "query.h"
#include "summary_parts.h"
#include "text_pool.h"
#include "trace/base/error.h"

static int add_criterion(const void *row, void *context)
{
	struct um_summary *summary = context;
	struct um_selection_row *kept =
		um_query_append(&summary->criteria, &summary->criterion_count, sizeof(*kept));
	int error;

	if (!kept)
		return UM_ENOMEM;
	*kept = *(const struct um_selection_row *)row;
	error = um_summary_keep(summary, &kept->criterion, "selection", "criterion");
	return error ? error : um_summary_keep(summary, &kept->value, "selection", "value");
}

/* As many of all launches as of those that were recorded; UM_NULL: not known. */
static int64_t extrapolated(const struct um_kernel_summary *kernel, int64_t counted)
{
	if (counted == UM_NULL || counted < 0 || kernel->recorded <= 0 ||
	    kernel->recorded >= kernel->launches)
		return UM_NULL;
	double all = (double)counted * (double)kernel->launches / (double)kernel->recorded;

	return all < 9.2e18 ? (int64_t)(all + 0.5) : UM_NULL;
}

void um_summary_extrapolate(struct um_kernel_summary *kernel)
{
	kernel->extrapolated_reads = extrapolated(kernel, kernel->reads);
	kernel->extrapolated_writes = extrapolated(kernel, kernel->writes);
	kernel->extrapolated_atomics = extrapolated(kernel, kernel->atomics);
	kernel->extrapolated_requests = extrapolated(kernel, kernel->requests);
}

int um_summary_load_selection(struct um_summary *summary, struct um_db *db)
{
	summary->launches = summary->recorded = 0;
	for (size_t i = 0; i < summary->kernel_count; i++) {
		const struct um_kernel_summary *kernel = &summary->kernels[i];

		summary->launches += kernel->launches;
		if (kernel->recorded == UM_NULL || summary->recorded == UM_NULL)
			summary->recorded = UM_NULL;
		else
			summary->recorded += kernel->recorded;
	}
	return um_db_each(db, &um_table_selection, NULL, 0, add_criterion, summary);
}
