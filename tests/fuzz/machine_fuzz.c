/*
 * A machine file of any bytes: refused with a place, or a machine with which time can be reckoned.
 */
#include "fuzz.h"

#include "sim/machine/machine_file.h"
#include "sim/machine/machine_topology.h"

/* Every device reaches a host, over links that there are and that move something. */
static void check_topology(const struct um_machine_spec *spec)
{
	const struct um_topology *topology = spec->topology;

	for (uint32_t device = 0; topology && device < spec->devices; device++) {
		const struct um_route *route = &topology->to_host[device];

		if (route->links < 1 || route->links > UM_ROUTE_MAX)
			um_fuzz_bug("a device that no host reaches", spec->name);
		for (uint8_t i = 0; i < route->links; i++)
			if (route->hop[i].link >= topology->link_count ||
			    !(topology->link[route->hop[i].link].bytes_per_s > 0))
				um_fuzz_bug("a way over what is no link", spec->name);
	}
}

static void check_machine(const struct um_machine_spec *spec)
{
	const struct um_link_spec *link = &spec->link;

	if (!(link->to_device_bytes_per_s > 0 && link->to_host_bytes_per_s > 0 &&
	      link->remote_requests_per_s > 0 && spec->memory_bytes_per_s > 0))
		um_fuzz_bug("a rate of zero", spec->name);
	if (spec->devices < 1 || spec->devices > UM_DEVICES_MAX || !spec->wave_lanes ||
	    !spec->compute_units || !spec->memory_bytes)
		um_fuzz_bug("a count that cannot be", spec->name);
	check_topology(spec);
	/* All of memory over the link in nanoseconds fits the clock, with room. */
	if ((double)spec->memory_bytes / link->to_device_bytes_per_s * 1e9 > 1e18)
		um_fuzz_bug("a time beyond the clock", spec->name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct um_machine_spec *spec = NULL;
	int error = um_machine_parse(&spec, "fuzz.yaml", (const char *)data, bytes);

	um_fuzz_check_result(error, spec);
	if (!error)
		check_machine(spec);
	um_machine_spec_destroy(spec);
	return 0;
}
