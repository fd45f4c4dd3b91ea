#include "svm_rules.h"

#include <stdio.h>

#define ALL_LINES UINT64_MAX
/* What it costs the host's processor; no rule. */
#define NO_COSTS "fault_service: 0ns, page_update: 0ns, copy_setup: 0ns, page_alloc: 0ns"

void svm_open(struct svm *svm, const char *parameters)
{
	fx_open(&svm->fx);
	row_log_clear(&svm->log);
	svm->fx.machine.xnack = UM_XNACK_PROCESS;
	snprintf(svm->fx.machine.arch, sizeof(svm->fx.machine.arch), "gfx90a");
	svm->fx.extra = row_log_observer(&svm->log);
	svm_choose(svm, parameters, "");
}

void svm_close(struct svm *svm)
{
	fx_close(&svm->fx);
}

void svm_choose(struct svm *svm, const char *parameters, const char *more_keys)
{
	char text[512];

	snprintf(text, sizeof(text), "driver: {name: amdgpu_svm, " NO_COSTS ", %s}\n%s", parameters,
		 more_keys);
	fx_policy(&svm->fx, text);
}

void svm_run(struct svm *svm)
{
	row_log_clear(&svm->log);
	fx_run(&svm->fx);
}

int64_t svm_alloc(struct svm *svm, int64_t pages)
{
	return fx_alloc(&svm->fx, "managed", PAGES(pages));
}

int64_t svm_data(struct svm *svm, int64_t pages)
{
	int64_t allocation = svm_alloc(svm, pages);

	fx_host(&svm->fx, allocation, 0, pages, UM_TOUCH_WRITTEN | UM_TOUCH_WRITTEN_FIRST);
	return allocation;
}

int64_t svm_launch(struct svm *svm, int64_t allocation, int64_t first, int64_t pages, bool write,
		   int64_t stream)
{
	int64_t op = fx_launch(&svm->fx, "k()", 1, stream);

	fx_touch_range(&svm->fx, 0, allocation, first, pages, write);
	fx_lines(&svm->fx, allocation, first, pages, write ? UM_TOUCH_WRITTEN : UM_TOUCH_READ,
		 write ? 0 : ALL_LINES, write ? ALL_LINES : 0);
	fx_launch_end(&svm->fx);
	return op;
}

int64_t svm_read(struct svm *svm, int64_t allocation, int64_t first, int64_t pages)
{
	int64_t op = svm_launch(svm, allocation, first, pages, false, 0);

	fx_sync(&svm->fx);
	return op;
}

int64_t svm_write(struct svm *svm, int64_t allocation, int64_t first, int64_t pages)
{
	int64_t op = svm_launch(svm, allocation, first, pages, true, 0);

	fx_sync(&svm->fx);
	return op;
}

int64_t svm_prefetch(struct svm *svm, int64_t allocation, int64_t first, int64_t pages,
		     int64_t device)
{
	int64_t op = fx_prefetch_pages(&svm->fx, allocation, first, pages, device);

	fx_sync(&svm->fx);
	return op;
}

void svm_leave(struct svm *svm, int64_t bytes)
{
	fx_alloc(&svm->fx, "device", (int64_t)svm->fx.machine.memory_bytes - bytes);
}
