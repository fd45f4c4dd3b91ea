/*
 * Nodes are gpu0.., host0.. (`host` is host0) and switch0... Switches and hosts pass on what comes, and so does a
 * device on the way to another, if no switch does (xGMI); never on the way to a host. The fewest links win, of as
 * many those that stand first in the file. A way from device to device that passes a host is none: such bytes go
 * through its memory. [assumed] of xGMI: the real tables of routes are the firmware's.
 *
 * Among themselves switches and hosts are linked as a forest: PCIe knows one way from a device to a host, and with
 * two the rule above would be a guess. Devices may be linked in cycles, with switches too (NVSwitch).
 */
#include "machine_topology.h"

#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS	     8u
#define SWITCHES     32u
#define FIRST_HOST   UM_DEVICES_MAX
#define FIRST_SWITCH (FIRST_HOST + HOSTS)
#define NODES	     (FIRST_SWITCH + SWITCHES)

static bool is_device(unsigned node)
{
	return node < FIRST_HOST;
}

static bool is_host(unsigned node)
{
	return node >= FIRST_HOST && node < FIRST_SWITCH;
}

static const struct {
	const char *prefix;
	unsigned first, count;
} kinds[] = {{"gpu", 0, UM_DEVICES_MAX},
	     {"host", FIRST_HOST, HOSTS},
	     {"switch", FIRST_SWITCH, SWITCHES}};

/* NODES if it is none. */
static unsigned node_of(const char *text)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t bytes = strlen(kinds[i].prefix);
		unsigned long number;
		char *end;

		if (strncmp(text, kinds[i].prefix, bytes))
			continue;
		if (is_host(kinds[i].first) && !text[bytes])
			return FIRST_HOST;
		if (text[bytes] < '0' || text[bytes] > '9')
			continue;
		number = strtoul(text + bytes, &end, 10);
		if (!*end && number < kinds[i].count)
			return kinds[i].first + (unsigned)number;
	}
	return NODES;
}

static const char *name_of(unsigned node, char text[32])
{
	size_t i = sizeof(kinds) / sizeof(*kinds);

	while (i-- > 1 && node < kinds[i].first)
		;
	i = node < FIRST_HOST ? 0 : i;
	snprintf(text, 32, "%s%u", kinds[i].prefix, node - kinds[i].first);
	return text;
}

/* --- reading --- */

#define LINK(member)  offsetof(struct um_topology_link, member)
#define BANDWIDTH_MIN 1e6
#define BANDWIDTH_MAX 1e15

static int read_between(const struct um_yaml_file *file, const struct um_yaml_node *node,
			const struct um_yaml_key *key, void *target)
{
	struct um_topology_link *link = target;
	const struct um_yaml_node *item = node->first;

	(void)key;
	if (node->kind != UM_YAML_LIST || !item || !item->next || item->next->next)
		return um_yaml_fail(file, node,
				    "between: two ends, written as \"[gpu0, switch0]\"");
	for (unsigned i = 0; i < 2; i++, item = item->next) {
		const char *text = um_yaml_scalar(file, item, "between");

		if (!text)
			return UM_EINVAL;
		link->between[i] = node_of(text);
		if (link->between[i] == NODES)
			return um_yaml_fail(file, item,
					    "between: \"%.32s\" is none of gpu0 to gpu%d, host (or "
					    "host0) to host%u, switch0 to switch%u",
					    text, UM_DEVICES_MAX - 1, HOSTS - 1, SWITCHES - 1);
	}
	return link->between[0] != link->between[1]
		       ? 0
		       : um_yaml_fail(file, node, "between: a link has two ends");
}

const struct um_machine_key um_topology_link_keys[UM_TOPOLOGY_LINK_KEYS] = {
	{{.name = "between", .read = read_between, .required = true},
	 "[one end, other end]",
	 "which two it joins: gpu0, host (host0, host1 of NUMA), switch0"},
	{{.name = "name",
	  .read = um_yaml_name,
	  .offset = LINK(name),
	  .capacity = sizeof(((struct um_topology_link *)0)->name)},
	 NULL,
	 "what it is, as it is shown: \"NVLink 4\""},
	{{"bandwidth", um_yaml_bandwidth, LINK(bytes_per_s), 0, BANDWIDTH_MIN, BANDWIDTH_MAX,
	  false},
	 NULL,
	 "bytes a second each way; needed, or both of the next two"},
	{{"pcie_generation", um_yaml_u32, LINK(pcie_generation), 0, 1, 6, false},
	 NULL,
	 "of a PCIe link, from which its bandwidth follows"},
	{{"pcie_lanes", um_yaml_u32, LINK(pcie_lanes), 0, 1, 32, false}, NULL, "its width"},
	{{"latency", um_yaml_duration, LINK(latency_ns), 0, 0, 1e9, false},
	 NULL,
	 "what a transfer between devices takes beside its bytes; default: none"},
	{{"remote_requests_per_s", um_yaml_rate, LINK(remote_requests_per_s), 0, 1e3, 1e13, false},
	 NULL,
	 "accesses of a kernel to another device's memory a second; default: as its bytes allow"},
};

static int read_links(const struct um_yaml_file *file, const struct um_yaml_node *node,
		      const struct um_yaml_key *key, void *target)
{
	struct um_yaml_key keys[UM_TOPOLOGY_LINK_KEYS + 1] = {{0}};
	struct um_topology *topology = target;
	int error = 0;

	(void)key;
	for (size_t i = 0; i < UM_TOPOLOGY_LINK_KEYS; i++)
		keys[i] = um_topology_link_keys[i].yaml;
	if (node->kind != UM_YAML_LIST || !node->first)
		return um_yaml_fail(file, node, "links: a list, of one link at the least");
	for (const struct um_yaml_node *item = node->first; item && !error; item = item->next) {
		struct um_topology_link *link = &topology->link[topology->link_count];

		if (topology->link_count == UM_TOPOLOGY_LINKS_MAX)
			return um_yaml_fail(file, item, "links: %d at the most",
					    UM_TOPOLOGY_LINKS_MAX);
		error = um_yaml_read_mapping(file, item, "a link", keys, link);
		link->at = (struct um_machine_place){item->line, item->column};
		topology->link_count++;
	}
	return error;
}

const struct um_machine_key um_topology_keys[UM_TOPOLOGY_KEYS] = {
	{{.name = "links", .read = read_links, .required = true},
	 "a list",
	 "each a mapping: keys below"},
	{{.name = "host_memory",
	  .read = um_yaml_name,
	  .offset = offsetof(struct um_topology, host_memory),
	  .capacity = sizeof(((struct um_topology *)0)->host_memory)},
	 NULL,
	 "the host (NUMA node) whose memory the program's is; default: of each device the nearest"},
};

int um_topology_read(const struct um_yaml_file *file, const struct um_yaml_node *node,
		     struct um_topology **out)
{
	struct um_yaml_key keys[UM_TOPOLOGY_KEYS + 1] = {{0}};
	struct um_topology *topology = calloc(1, sizeof(*topology));
	int error;

	if (!topology)
		return um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = 0; i < UM_TOPOLOGY_KEYS; i++)
		keys[i] = um_topology_keys[i].yaml;
	error = um_yaml_read_mapping(file, node, "a topology", keys, topology);
	topology->at = (struct um_machine_place){node->line, node->column};
	if (error)
		free(topology);
	else
		*out = topology;
	return error;
}

/* --- what cannot be --- */

/*
 * Raw rates and coding of the PCI Express Base Specifications 1 to 6 (GT/s a lane; 8b/10b, 128b/130b, FLITs of 236
 * of 256 bytes), less 24 bytes of header, framing and check a packet of 256.
 */
double um_pcie_bytes_per_s(uint32_t generation, uint32_t lanes)
{
	static const struct {
		double rate, coding;
	} of[] = {{0, 0},
		  {2.5e9, 8.0 / 10},
		  {5e9, 8.0 / 10},
		  {8e9, 128.0 / 130},
		  {16e9, 128.0 / 130},
		  {32e9, 128.0 / 130},
		  {64e9, 236.0 / 256}};

	return of[generation].rate * of[generation].coding / 8 * lanes * 256 / 280;
}

static struct um_yaml_node node_at(const struct um_machine_place *place)
{
	return (struct um_yaml_node){
		.kind = UM_YAML_MAPPING, .line = place->line, .column = place->column};
}

static int complete_bandwidth(const struct um_yaml_file *file, struct um_topology_link *link)
{
	struct um_yaml_node at = node_at(&link->at);
	bool is_pcie = link->pcie_generation && link->pcie_lanes;

	if (!is_pcie && (link->pcie_generation || link->pcie_lanes))
		return um_yaml_fail(file, &at,
				    "a link needs \"pcie_generation\" and \"pcie_lanes\"");
	if (is_pcie == (link->bytes_per_s > 0))
		return um_yaml_fail(
			file, &at,
			is_pcie ? "a link has \"bandwidth\" or \"pcie_generation\", not both"
				: "a link needs \"bandwidth\", or \"pcie_generation\" "
				  "and \"pcie_lanes\"");
	if (is_pcie)
		link->bytes_per_s = um_pcie_bytes_per_s(link->pcie_generation, link->pcie_lanes);
	return 0;
}

static int check_ends(const struct um_topology *topology, const struct um_yaml_file *file,
		      size_t which, uint32_t devices)
{
	const struct um_topology_link *link = &topology->link[which];
	struct um_yaml_node at = node_at(&link->at);
	char text[2][32];

	for (unsigned i = 0; i < 2; i++)
		if (is_device(link->between[i]) && link->between[i] >= devices)
			return um_yaml_fail(file, &at, "%s: the machine has %u devices",
					    name_of(link->between[i], text[0]), devices);
	for (size_t i = 0; i < which; i++) {
		const unsigned *ends = topology->link[i].between;

		if ((ends[0] == link->between[0] && ends[1] == link->between[1]) ||
		    (ends[0] == link->between[1] && ends[1] == link->between[0]))
			return um_yaml_fail(file, &at,
					    "%s and %s have a link already (line %u): one with the "
					    "bandwidth of both",
					    name_of(ends[0], text[0]), name_of(ends[1], text[1]),
					    topology->link[i].at.line);
	}
	return 0;
}

static unsigned root_of(const unsigned *parent, unsigned node)
{
	while (parent[node] != node)
		node = parent[node];
	return node;
}

/* A link between two that are joined already closes a cycle. */
static int check_forest(const struct um_topology *topology, const struct um_yaml_file *file)
{
	unsigned parent[NODES];

	for (unsigned i = 0; i < NODES; i++)
		parent[i] = i;
	for (size_t i = 0; i < topology->link_count; i++) {
		const struct um_topology_link *link = &topology->link[i];
		unsigned a = root_of(parent, link->between[0]);
		unsigned b = root_of(parent, link->between[1]);
		struct um_yaml_node at = node_at(&link->at);
		char text[2][32];

		if (is_device(link->between[0]) || is_device(link->between[1]))
			continue;
		if (a == b)
			return um_yaml_fail(
				file, &at,
				"a cycle of switches: %s and %s are joined by other links "
				"already",
				name_of(link->between[0], text[0]),
				name_of(link->between[1], text[1]));
		parent[a] = b;
	}
	return 0;
}

/* --- routes --- */

struct search {
	const struct um_topology *topology;
	unsigned from;
	bool to_host;
	unsigned before[NODES]; /* the link by which it was reached, link_count: not yet */
	unsigned queue[NODES], head, tail;
};

/* Who passes on what comes. */
static bool passes(const struct search *search, unsigned node)
{
	if (node == search->from)
		return true;
	return search->to_host ? !is_device(node) : !is_host(node);
}

static void visit(struct search *search, unsigned node)
{
	const struct um_topology *topology = search->topology;

	for (unsigned i = 0; i < topology->link_count; i++) {
		const unsigned *ends = topology->link[i].between;
		unsigned other = ends[0] == node ? ends[1] : ends[0];

		if ((ends[0] != node && ends[1] != node) || other == search->from ||
		    search->before[other] < topology->link_count)
			continue;
		search->before[other] = i;
		search->queue[search->tail++] = other;
	}
}

static void run_search(struct search *search)
{
	for (unsigned i = 0; i < NODES; i++)
		search->before[i] = (unsigned)search->topology->link_count;
	search->queue[search->tail++] = search->from;
	while (search->head < search->tail) {
		unsigned node = search->queue[search->head++];

		if (passes(search, node))
			visit(search, node);
	}
}

/* False: it takes too many links, or there is no way. */
static bool take_route(const struct search *search, unsigned to, struct um_route *route)
{
	struct um_hop hops[UM_ROUTE_MAX];
	uint8_t count = 0;

	while (to != search->from) {
		unsigned link = search->before[to];

		if (link == search->topology->link_count || count == UM_ROUTE_MAX)
			return false;
		hops[count].link = (uint8_t)link;
		hops[count++].back = search->topology->link[link].between[0] == to;
		to = search->topology->link[link].between[hops[count - 1].back];
	}
	for (uint8_t i = 0; i < count; i++)
		route->hop[i] = hops[count - 1 - i];
	route->links = count;
	return true;
}

static int route_to_host(struct um_topology *topology, const struct um_yaml_file *file,
			 unsigned device)
{
	struct search search = {.topology = topology, .from = device, .to_host = true};
	struct um_yaml_node at = node_at(&topology->at);
	unsigned wanted = *topology->host_memory ? node_of(topology->host_memory) : NODES;
	char text[32];

	run_search(&search);
	for (unsigned i = 1; i < search.tail; i++) { /* the nearest first */
		unsigned node = search.queue[i];

		if (is_host(node) && (wanted == NODES || node == wanted) &&
		    take_route(&search, node, &topology->to_host[device]))
			return 0;
	}
	return um_yaml_fail(
		file, &at,
		"gpu%u has no link to %s, through switches or not, of %d links at the most", device,
		wanted == NODES ? "a host" : name_of(wanted, text), UM_ROUTE_MAX);
}

static void route_to_peers(struct um_topology *topology, unsigned device, uint32_t devices)
{
	struct search search = {.topology = topology, .from = device};

	run_search(&search);
	for (unsigned peer = 0; peer < devices; peer++)
		if (peer != device)
			take_route(&search, peer, &topology->to_peer[device][peer]);
}

static int check_host_memory(const struct um_topology *topology, const struct um_yaml_file *file)
{
	struct um_yaml_node at = node_at(&topology->at);

	if (!*topology->host_memory || is_host(node_of(topology->host_memory)))
		return 0;
	return um_yaml_fail(file, &at, "host_memory: \"%s\" is no host", topology->host_memory);
}

int um_topology_complete(struct um_topology *topology, const struct um_yaml_file *file,
			 uint32_t devices)
{
	int error = check_host_memory(topology, file);

	for (size_t i = 0; i < topology->link_count && !error; i++) {
		error = complete_bandwidth(file, &topology->link[i]);
		if (!error)
			error = check_ends(topology, file, i, devices);
	}
	if (!error)
		error = check_forest(topology, file);
	for (unsigned i = 0; i < devices && !error; i++) {
		error = route_to_host(topology, file, i);
		route_to_peers(topology, i, devices);
	}
	return error;
}

double um_route_bytes_per_s(const struct um_topology *topology, const struct um_route *route)
{
	double slowest = 0;

	for (uint8_t i = 0; i < route->links; i++) {
		double rate = topology->link[route->hop[i].link].bytes_per_s;

		slowest = i && slowest < rate ? slowest : rate;
	}
	return slowest;
}
