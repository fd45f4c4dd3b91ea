#include "api.h"

#include <hip/amd_detail/hip_prof_str.h>

const char *hipApiName(uint32_t id)
{
	return hip_api_name(id);
}
