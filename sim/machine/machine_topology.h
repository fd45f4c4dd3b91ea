/*
 * How a machine's devices, switches and hosts (NUMA nodes) are linked, as its file has it under `topology`, and
 * which links a transfer takes. Without one each device has a way of its own to the host.
 */
#ifndef UM_MACHINE_TOPOLOGY_H
#define UM_MACHINE_TOPOLOGY_H

#include "machine.h"
#include "machine_file.h"

#define UM_TOPOLOGY_LINKS_MAX 96
#define UM_ROUTE_MAX	      8

struct um_topology_link {
	unsigned between[2];		      /* nodes, numbered as machine_topology.c has them */
	char name[32];			      /* "NVLink"; "" : none is given */
	double bytes_per_s;		      /* each way */
	uint32_t pcie_generation, pcie_lanes; /* instead of that; 0: none */
	um_ns latency_ns;
	double remote_requests_per_s; /* of a device's accesses to another's memory; 0: as its bytes allow */
	struct um_machine_place at;
};

/* The links of a way, one behind the other. */
struct um_route {
	uint8_t links;
	struct um_hop {
		uint8_t link;
		bool back; /* from between[1] to between[0] */
	} hop[UM_ROUTE_MAX];
};

struct um_topology {
	struct um_topology_link link[UM_TOPOLOGY_LINKS_MAX];
	size_t link_count;
	char host_memory[16]; /* the host whose memory all is; "": of each device the nearest */
	struct um_machine_place at;
	/* From device; a route without links: there is none. */
	struct um_route to_host[UM_DEVICES_MAX], to_peer[UM_DEVICES_MAX][UM_DEVICES_MAX];
};

/* Their keys, and those of a link. */
#define UM_TOPOLOGY_KEYS      2
#define UM_TOPOLOGY_LINK_KEYS 7
extern const struct um_machine_key um_topology_keys[UM_TOPOLOGY_KEYS];
extern const struct um_machine_key um_topology_link_keys[UM_TOPOLOGY_LINK_KEYS];

/* The mapping under `topology`, key by key. UM_EINVAL with its place, UM_ENOMEM. */
int um_topology_read(const struct um_yaml_file *, const struct um_yaml_node *,
		     struct um_topology **out);
/*
 * When the machine is known: its routes. UM_EINVAL with the place of what cannot be: a device that there is not,
 * a link without bandwidth, two between the same, a cycle of switches, a device without a way to a host.
 */
int um_topology_complete(struct um_topology *, const struct um_yaml_file *, uint32_t devices);
/* Of the slowest link on the way; 0: there is none. */
double um_route_bytes_per_s(const struct um_topology *, const struct um_route *);
/* Usable bytes a second of a PCIe link, each way: what packets of 256 bytes leave of the raw rate. */
double um_pcie_bytes_per_s(uint32_t generation, uint32_t lanes);

#endif
