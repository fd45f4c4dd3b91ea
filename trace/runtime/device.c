#include "api.h"
#include "process_xnack.h"

#include <stdio.h>
#include <string.h>

/*
 * One GCD of an AMD Instinct MI250X, which is what HIP shows as a device. "AMD Instinct MI250X
 * Accelerator" data sheet: 110 compute units and 64 GB HBM2e a GCD, 1700 MHz peak engine clock,
 * 1600 MHz memory clock, 4096 bits a GCD; "CDNA2 architecture" white paper: 8 MiB of L2 a GCD.
 */
static const struct um_played_device mi250x_gcd = {
	.name = "AMD Instinct MI250X",
	.arch = "gfx90a",
	.memory_bytes = 64ull << 30,
	.compute_units = 110,
	.clock_khz = 1700000,
	.memory_clock_khz = 1600000,
	.memory_bus_bits = 4096,
	.l2_bytes = 8u << 20,
};

/* Its XNACK mode is each process's own; see sim/machine/machines/mi250x.yaml. */
static const struct um_spool_config alone = {
	.xnack_may = UM_XNACK_MAY_TURN_ON | UM_XNACK_MAY_TURN_OFF,
};

static struct um_played_device played;
static uint32_t count;

static uint32_t either(uint32_t wanted, uint32_t otherwise)
{
	return wanted ? wanted : otherwise;
}

static void play(const struct um_spool_config *config)
{
	if (config->device_name[0])
		snprintf(played.name, sizeof(played.name), "%.*s",
			 (int)sizeof(config->device_name) - 1, config->device_name);
	if (config->device_arch[0])
		snprintf(played.arch, sizeof(played.arch), "%.*s",
			 (int)sizeof(config->device_arch) - 1, config->device_arch);
	if (config->memory_bytes)
		played.memory_bytes = config->memory_bytes;
	played.compute_units = either(config->compute_units, played.compute_units);
	played.clock_khz = either(config->clock_khz, played.clock_khz);
	played.memory_clock_khz = either(config->memory_clock_khz, played.memory_clock_khz);
	played.memory_bus_bits = either(config->memory_bus_bits, played.memory_bus_bits);
	played.l2_bytes = either(config->l2_bytes, played.l2_bytes);
	played.host_access = config->host_access;
	count = config->devices < UM_MAX_DEVICES ? config->devices : UM_MAX_DEVICES;
}

static void choose(void)
{
	const struct um_spool_config *config = um_tracer_config();

	played = mi250x_gcd;
	count = 1;
	if (config && config->devices)
		play(config);
	else
		config = &alone;
	played.xnack = um_process_xnack(config->xnack, config->xnack_may, um_hsa_xnack());
}

uint32_t um_device_count(void)
{
	if (!count)
		choose();
	return count;
}

const struct um_played_device *um_device_get(uint32_t device)
{
	return device < um_device_count() ? &played : NULL;
}

bool um_is_device(int ordinal)
{
	return ordinal >= 0 && (uint32_t)ordinal < um_device_count();
}
