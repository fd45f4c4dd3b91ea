/*
 * amdgpu_svm and the program's calls: allocations, advice and prefetches, each as a SET_ATTR
 * (R1, R6 to R9).
 */
#include "svm.h"

int um_svm_on_alloc(struct um_driver *driver, const struct um_alloc *alloc, um_ns *done_at)
{
	struct svm *svm = svm_of(driver);
	struct um_page_range whole = {alloc->allocation, 0, 0};
	struct um_why why = {UM_CAUSE_ADVICE, alloc->op, 0};
	struct svm_setting access[UM_DEVICES_MAX];
	int error;

	if (um_machine_home(svm->machine, alloc->allocation) != UM_HOME_MANAGED)
		return 0;
	error = um_svm_add_allocation(svm, alloc);
	whole.pages = um_machine_pages(svm->machine, alloc->allocation);
	if (error || !whole.pages || alloc->kind != UM_ALLOCATION_MANAGED)
		return error; /* nobody registers pageable memory (R19) */
	for (um_device_id device = 0; device < svm->devices; device++)
		access[device] = (struct svm_setting){SVM_ACCESS, device};
	return um_svm_set_attributes(svm, um_svm_find(svm, alloc->allocation), &whole, access,
				     (size_t)svm->devices, &why, svm_free_at(svm), done_at);
}

int um_svm_on_free(struct um_driver *driver, um_alloc_id id, um_ns *done_at)
{
	struct svm *svm = svm_of(driver);
	struct svm_allocation *allocation = um_svm_find(svm, id);

	(void)done_at;
	if (allocation)
		um_svm_remove_allocation(svm, allocation);
	return 0;
}

/* What each advice sets (R6 to R8). */
static const struct advice {
	enum svm_attribute attribute;
	int32_t value; /* where the advice names no device */
	bool takes_device;
	const char *ignored, *why; /* what it does not do */
} advices[] = {
	[UM_ADVICE_READ_MOSTLY] = {SVM_SET_FLAGS, SVM_READ_MOSTLY, false, "read_mostly",
				   "amdkfd keeps the flag and nothing reads it: pages are never "
				   "duplicated"},
	[UM_ADVICE_UNSET_READ_MOSTLY] = {SVM_CLEAR_FLAGS, SVM_READ_MOSTLY, false, "read_mostly",
					 "amdkfd keeps the flag and nothing reads it: pages are "
					 "never duplicated"},
	[UM_ADVICE_PREFERRED_LOCATION] = {SVM_PREFERRED_LOCATION, 0, true, NULL, NULL},
	[UM_ADVICE_UNSET_PREFERRED_LOCATION] = {SVM_PREFERRED_LOCATION, SVM_UNDEFINED, false, NULL,
						NULL},
	[UM_ADVICE_ACCESSED_BY] = {SVM_ACCESS_IN_PLACE, 0, true, NULL, NULL},
	[UM_ADVICE_UNSET_ACCESSED_BY] = {SVM_ACCESS, 0, true, NULL, NULL},
	[UM_ADVICE_COARSE_GRAIN] = {SVM_CLEAR_FLAGS, SVM_COHERENT, false, "coarse_grain",
				    "it decides how caches treat a page, which is not modelled"},
	[UM_ADVICE_UNSET_COARSE_GRAIN] = {SVM_SET_FLAGS, SVM_COHERENT, false, "coarse_grain",
					  "it decides how caches treat a page, which is not "
					  "modelled"},
};

/* False: there is no such advice, or it names no device that there is. */
static bool setting_of(const struct svm *svm, const struct um_advice *request,
		       struct svm_setting *setting)
{
	const struct advice *advice = &advices[request->kind];

	if (!request->kind || request->kind >= sizeof(advices) / sizeof(*advices))
		return false;
	*setting = (struct svm_setting){advice->attribute,
					advice->takes_device ? request->device : advice->value};
	if (advice->ignored)
		svm->env->ignored(svm->env->ignored_context, advice->ignored, advice->why);
	if (advice->attribute != SVM_ACCESS && advice->attribute != SVM_ACCESS_IN_PLACE)
		return request->device < svm->devices || !advice->takes_device;
	if (request->device >= 0)
		return request->device < svm->devices;
	svm->env->ignored(svm->env->ignored_context, "accessed_by the host",
			  "amdkfd keeps the flag and nothing reads it: the host can access all");
	/* ROCr sets it for either kind of access (Runtime::SetSvmAttrib). */
	*setting = (struct svm_setting){SVM_SET_FLAGS, SVM_HOST_ACCESS};
	return true;
}

int um_svm_on_advice(struct um_driver *driver, const struct um_advice *request, um_ns *done_at)
{
	struct svm *svm = svm_of(driver);
	struct svm_allocation *allocation = um_svm_find(svm, request->range.allocation);
	struct um_why why = {UM_CAUSE_ADVICE, request->op, 0};
	struct svm_setting setting;

	if (!allocation || !request->range.pages || !setting_of(svm, request, &setting))
		return 0;
	return um_svm_set_attributes(svm, allocation, &request->range, &setting, 1, &why,
				     svm_free_at(svm), done_at);
}

int um_svm_on_prefetch(struct um_driver *driver, const struct um_prefetch *request, um_ns *done_at)
{
	struct svm *svm = svm_of(driver);
	struct svm_allocation *allocation = um_svm_find(svm, request->range.allocation);
	struct um_why why = {UM_CAUSE_PREFETCH, request->op, 0};
	struct svm_setting setting = {SVM_PREFETCH_LOCATION, request->to};

	if (!allocation || !request->range.pages)
		return 0;
	return um_svm_set_attributes(svm, allocation, &request->range, &setting, 1, &why,
				     svm_free_at(svm), done_at);
}
