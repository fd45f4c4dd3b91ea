#include "machine_file.h"

#include "machine_setting.h"
#include "machine_topology.h"
#include "trace/base/error.h"
#include "trace/base/paths.h"
#include "yaml_file.h"

#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bounds wide enough for any machine to come, and narrow enough that no time overflows. */
#define BANDWIDTH_MIN 1e6
#define BANDWIDTH_MAX 1e15
#define LATENCY_MAX   1e9
#define MEMORY_MIN    (double)(UINT64_C(1) << 21)
#define MEMORY_MAX    (double)(UINT64_C(1) << 48)

#define LINK(member)	offsetof(struct link_reading, spec.member)
#define PEER(member)	offsetof(struct um_peer_link_spec, member)
#define TRACING(member) offsetof(struct um_tracing_spec, member)
#define MACHINE(member) offsetof(struct um_machine_spec, member)

#define XNACK_WORDS "never, boot, process, always"
/* Of a section. */
#define KEYS_MAX 32

enum section {
	SECTION_MACHINE,
	SECTION_LINK,
	SECTION_PEER_LINK,
	SECTION_TOPOLOGY,
	SECTION_TOPOLOGY_LINK,
	SECTION_TRACING,
	SECTIONS
};
static const struct um_machine_section sections[SECTIONS];

/* UM_NEVER stands for a latency that the file does not have. */
struct link_reading {
	struct um_link_spec spec;
	um_ns latency_ns; /* of both ways */
};

/* By the section's own table. */
static int read_section(const struct um_yaml_file *file, const struct um_yaml_node *node,
			const struct um_machine_section *section, void *target)
{
	struct um_yaml_key keys[KEYS_MAX + 1] = {{0}};

	assert(section->key_count <= KEYS_MAX);
	for (size_t i = 0; i < section->key_count; i++)
		keys[i] = section->keys[i].yaml;
	return um_yaml_read_mapping(file, node, section->what, keys, target);
}

static const struct um_machine_key link_keys[] = {
	{{.name = "name",
	  .read = um_yaml_name,
	  .offset = LINK(name),
	  .capacity = sizeof(((struct um_link_spec *)0)->name),
	  .required = true},
	 NULL,
	 "what it is, as it is shown: \"PCIe 5.0 x16\""},
	{{"to_device", um_yaml_bandwidth, LINK(to_device_bytes_per_s), 0, BANDWIDTH_MIN,
	  BANDWIDTH_MAX, true},
	 NULL,
	 "bytes a second of transfers to a device"},
	{{"to_host", um_yaml_bandwidth, LINK(to_host_bytes_per_s), 0, BANDWIDTH_MIN, BANDWIDTH_MAX,
	  true},
	 NULL,
	 "so back to the host"},
	{{"latency", um_yaml_duration, offsetof(struct link_reading, latency_ns), 0, 0, LATENCY_MAX,
	  false},
	 NULL,
	 "what a transfer takes beside its bytes, both ways; needed, or both of the next two"},
	{{"to_device_latency", um_yaml_duration, LINK(to_device_latency_ns), 0, 0, LATENCY_MAX,
	  false},
	 NULL,
	 "so to a device alone; default: latency"},
	{{"to_host_latency", um_yaml_duration, LINK(to_host_latency_ns), 0, 0, LATENCY_MAX, false},
	 NULL,
	 "so to the host alone; default: latency"},
	{{"remote_request", um_yaml_bytes32, LINK(remote_request_bytes), 0, 16, 4096, true},
	 NULL,
	 "bytes that one access to the other side's memory fetches"},
	{{"remote_requests_per_s", um_yaml_rate, LINK(remote_requests_per_s), 0, 1e3, 1e13, true},
	 NULL,
	 "such accesses a second, of the whole device"},
	{{"coherent", um_yaml_bool, LINK(coherent), 0, 0, 0, false},
	 NULL,
	 "the host can map and access device memory; default: false"},
};

/* `true` and `false` are what files of version 0.1 have. */
static int read_xnack(const struct um_yaml_file *file, const struct um_yaml_node *node,
		      const struct um_yaml_key *key, void *target)
{
	static const struct {
		const char *word;
		enum um_xnack_support support;
	} words[] = {{"never", UM_XNACK_NEVER},	    {"boot", UM_XNACK_BOOT},
		     {"process", UM_XNACK_PROCESS}, {"always", UM_XNACK_ALWAYS},
		     {"false", UM_XNACK_NEVER},	    {"true", UM_XNACK_PROCESS}};
	const char *text = um_yaml_scalar(file, node, key->name);

	if (!text)
		return UM_EINVAL;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i].word, text) == 0) {
			*(enum um_xnack_support *)(void *)((char *)target + key->offset) =
				words[i].support;
			return 0;
		}
	return um_yaml_fail(file, node, "%s: \"%.48s\" is none of " XNACK_WORDS, key->name, text);
}

/* `latency` is that of both ways, but for one that has its own. */
static int complete_latency(struct link_reading *link, const struct um_yaml_file *file,
			    const struct um_yaml_node *node)
{
	um_ns *ways[] = {&link->spec.to_device_latency_ns, &link->spec.to_host_latency_ns};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (*ways[i] == UM_NEVER)
			*ways[i] = link->latency_ns;
		if (*ways[i] == UM_NEVER)
			return um_yaml_fail(file, node, "a link needs \"latency\"");
	}
	return 0;
}

static int read_link(const struct um_yaml_file *file, const struct um_yaml_node *node,
		     const struct um_yaml_key *key, void *target)
{
	struct link_reading link = {
		.spec = {.to_device_latency_ns = UM_NEVER, .to_host_latency_ns = UM_NEVER},
		.latency_ns = UM_NEVER};
	int error = read_section(file, node, &sections[SECTION_LINK], &link);

	if (!error)
		error = complete_latency(&link, file, node);
	if (!error)
		*(struct um_link_spec *)(void *)((char *)target + key->offset) = link.spec;
	return error;
}

static const struct um_machine_key peer_link_keys[] = {
	{{.name = "name",
	  .read = um_yaml_name,
	  .offset = PEER(name),
	  .capacity = sizeof(((struct um_peer_link_spec *)0)->name),
	  .required = true},
	 NULL,
	 "what it is, as it is shown: \"Infinity Fabric (xGMI)\""},
	{{"bandwidth", um_yaml_bandwidth, PEER(bytes_per_s), 0, BANDWIDTH_MIN, BANDWIDTH_MAX, true},
	 NULL,
	 "bytes a second each way, between any two devices"},
	{{"latency", um_yaml_duration, PEER(latency_ns), 0, 0, LATENCY_MAX, true},
	 NULL,
	 "what a copy takes beside its bytes"},
	{{"remote_requests_per_s", um_yaml_rate, PEER(remote_requests_per_s), 0, 1e3, 1e13, true},
	 NULL,
	 "accesses of a kernel to another device's memory a second"},
};

static int read_peer_link(const struct um_yaml_file *file, const struct um_yaml_node *node,
			  const struct um_yaml_key *key, void *target)
{
	return read_section(file, node, &sections[SECTION_PEER_LINK], (char *)target + key->offset);
}

static const struct um_machine_key tracing_keys[] = {
	{{"to_device_record", um_yaml_duration, TRACING(to_device_record_ns), 0, 0, LATENCY_MAX,
	  false},
	 NULL,
	 "what recording costs: each transfer to a device"},
	{{"fault_record", um_yaml_duration, TRACING(fault_record_ns), 0, 0, LATENCY_MAX, false},
	 NULL,
	 "each page of which a device faulted"},
	{{"cpu_fault_record", um_yaml_duration, TRACING(cpu_fault_record_ns), 0, 0, LATENCY_MAX,
	  false},
	 NULL,
	 "each fault of the host that moves pages"},
};

static int read_tracing(const struct um_yaml_file *file, const struct um_yaml_node *node,
			const struct um_yaml_key *key, void *target)
{
	return read_section(file, node, &sections[SECTION_TRACING], (char *)target + key->offset);
}

static int read_topology(const struct um_yaml_file *file, const struct um_yaml_node *node,
			 const struct um_yaml_key *key, void *target)
{
	(void)key;
	return um_topology_read(file, node, &((struct um_machine_spec *)target)->topology);
}

static int read_drivers(const struct um_yaml_file *file, const struct um_yaml_node *node,
			const struct um_yaml_key *key, void *target)
{
	(void)key;
	return um_machine_read_settings(file, node, target);
}

static const struct um_machine_key machine_keys[] = {
	{{.name = "name",
	  .read = um_yaml_name,
	  .offset = MACHINE(name),
	  .capacity = sizeof(((struct um_machine_spec *)0)->name),
	  .required = true},
	 NULL,
	 "the machine's, as tables show it"},
	{{.name = "device_name",
	  .read = um_yaml_name,
	  .offset = MACHINE(device_name),
	  .capacity = sizeof(((struct um_machine_spec *)0)->device_name),
	  .required = true},
	 NULL,
	 "the GPU's, as its driver calls it; umsim check finds the machine of a measured card by it"},
	{{.name = "arch",
	  .read = um_yaml_name,
	  .offset = MACHINE(arch),
	  .capacity = sizeof(((struct um_machine_spec *)0)->arch),
	  .required = true},
	 NULL,
	 "the GPU's: gfx90a, sm_90; the driver model follows from it (gfx: amdgpu_svm, sm_: nvidia_uvm)"},
	{{"devices", um_yaml_u32, MACHINE(devices), 0, 1, UM_DEVICES_MAX, true},
	 NULL,
	 "GPUs of this kind, all of one node"},
	{{"memory", um_yaml_bytes, MACHINE(memory_bytes), 0, MEMORY_MIN, MEMORY_MAX, true},
	 NULL,
	 "of each device, that programs can use"},
	{{"compute_units", um_yaml_u32, MACHINE(compute_units), 0, 1, 100000, true},
	 NULL,
	 "compute units, streaming multiprocessors"},
	{{"waves_per_unit", um_yaml_u32, MACHINE(waves_per_unit), 0, 1, 1024, true},
	 NULL,
	 "waves or warps that one holds at most"},
	{{"wave_lanes", um_yaml_u32, MACHINE(wave_lanes), 0, 1, 64, true},
	 NULL,
	 "lanes of a wave; traces are made in waves of 64 whatever stands here"},
	{{"clock_khz", um_yaml_u32, MACHINE(clock_khz), 0, 1, 1e8, true},
	 NULL,
	 "of the compute units, for hipGetDeviceProperties"},
	{{"memory_clock_khz", um_yaml_u32, MACHINE(memory_clock_khz), 0, 1, 1e8, true},
	 NULL,
	 "for hipGetDeviceProperties"},
	{{"memory_bus_bits", um_yaml_u32, MACHINE(memory_bus_bits), 0, 1, 1e6, true},
	 NULL,
	 "for hipGetDeviceProperties"},
	{{"l2", um_yaml_bytes32, MACHINE(l2_bytes), 0, 1, 4e9, true},
	 NULL,
	 "the cache that all units share, for hipGetDeviceProperties"},
	{{"memory_bandwidth", um_yaml_bandwidth, MACHINE(memory_bytes_per_s), 0, BANDWIDTH_MIN,
	  BANDWIDTH_MAX, true},
	 NULL,
	 "bytes a second of the device's own memory"},
	{{"launch", um_yaml_duration, MACHINE(launch_ns), 0, 0, LATENCY_MAX, true},
	 NULL,
	 "from a launch to its first group"},
	{{"accesses_per_s", um_yaml_rate, MACHINE(accesses_per_s), 0, 1e6, 1e16, false},
	 NULL,
	 "accesses of lanes that all compute units issue a second; default: only their bytes take time"},
	{{"atomics_per_s", um_yaml_rate, MACHINE(atomics_per_s), 0, 1e3, 1e13, false},
	 NULL,
	 "atomic operations of lanes on one address, which take turns; default: they take no time"},
	{{"xnack", read_xnack, MACHINE(xnack), 0, 0, 0, true},
	 XNACK_WORDS,
	 "whether a device retries an access that faulted: as each process has it, as amdgpu was loaded"},
	{{"apu", um_yaml_bool, MACHINE(apu), 0, 0, 0, false},
	 NULL,
	 "host and devices share one memory: nothing migrates, and there is no link; default: false"},
	{{"link", read_link, MACHINE(link), 0, 0, 0, false},
	 "a mapping",
	 "host to each device: keys below; needed, but not by an apu"},
	{{"peer_link", read_peer_link, MACHINE(peer_link), 0, 0, 0, false},
	 "a mapping",
	 "device to device: keys below; default: through the host"},
	{{"topology", read_topology, 0, 0, 0, 0, false},
	 "a mapping",
	 "switches, NUMA hosts and links that they and the devices share: keys below; default: each "
	 "device has its own link to the host"},
	{{"tracing", read_tracing, MACHINE(tracing), 0, 0, 0, false},
	 "a mapping",
	 "what recording costs on the card, for umsim check: keys below"},
	{{"drivers", read_drivers, 0, 0, 0, 0, false},
	 "a mapping a driver",
	 "a driver's parameters as they are on this machine: {nvidia_uvm: {batch_time: 14us}}"},
};

#define SECTION(name, what, keys)                                                                  \
	{                                                                                          \
		name, what, keys, sizeof(keys) / sizeof(*(keys))                                   \
	}
static const struct um_machine_section sections[SECTIONS] = {
	[SECTION_MACHINE] = SECTION(NULL, "a machine", machine_keys),
	[SECTION_LINK] = SECTION("link", "a link", link_keys),
	[SECTION_PEER_LINK] = SECTION("peer_link", "a link between devices", peer_link_keys),
	[SECTION_TOPOLOGY] = SECTION("topology", "a topology", um_topology_keys),
	[SECTION_TOPOLOGY_LINK] =
		SECTION("topology: links", "a link of a topology", um_topology_link_keys),
	[SECTION_TRACING] = SECTION("tracing", "tracing", tracing_keys),
};
#undef SECTION

const struct um_machine_section *um_machine_sections(size_t *count)
{
	*count = sizeof(sections) / sizeof(*sections);
	return sections;
}

static int out_of_memory(void)
{
	return um_fail(UM_ENOMEM, "out of memory");
}

/*
 * Between the memory that host and device share and itself there is no link; what is reckoned as a
 * transfer (hipMemcpy) reads and writes that memory.
 */
static const struct um_link_spec no_link = {
	.name = UM_LINK_NONE,
	.remote_request_bytes = 64,
	.coherent = true,
};

static int complete_link(struct um_machine_spec *spec, const struct um_yaml_file *file,
			 const struct um_yaml_node *root)
{
	bool has_link = *spec->link.name;

	if (!spec->apu)
		return has_link ? 0 : um_yaml_fail(file, root, "a machine needs \"link\"");
	if (has_link || spec->topology)
		return um_yaml_fail(file, root,
				    "apu: true: host and devices share one memory, so there can be "
				    "no \"link\"");
	spec->link = no_link;
	spec->link.to_device_bytes_per_s = spec->memory_bytes_per_s / 2;
	spec->link.to_host_bytes_per_s = spec->memory_bytes_per_s / 2;
	spec->link.remote_requests_per_s = spec->memory_bytes_per_s / no_link.remote_request_bytes;
	return 0;
}

static int complete_topology(struct um_machine_spec *spec, const struct um_yaml_file *file,
			     const struct um_yaml_node *root)
{
	if (!spec->topology)
		return 0;
	if (*spec->peer_link.name)
		return um_yaml_fail(file, root,
				    "a machine has \"peer_link\" or \"topology\", not both");
	return um_topology_complete(spec->topology, file, spec->devices);
}

/* Takes the file's text on success. */
static int spec_from_file(struct um_machine_spec **out, struct um_yaml_file *file)
{
	static const struct um_yaml_node nothing = {
		.kind = UM_YAML_MAPPING, .line = 1, .column = 1};
	struct um_machine_spec *spec = calloc(1, sizeof(*spec));

	if (!spec)
		return out_of_memory();
	const struct um_yaml_node *root = file->root ? file->root : &nothing;
	int error = read_section(file, root, &sections[SECTION_MACHINE], spec);
	if (!error)
		error = complete_link(spec, file, root);
	if (!error)
		error = complete_topology(spec, file, root);
	if (error) {
		um_machine_spec_destroy(spec);
		return error;
	}
	spec->text = file->text;
	spec->path = file->path;
	file->text = file->path = NULL;
	*out = spec;
	return 0;
}

int um_machine_parse(struct um_machine_spec **out, const char *path, const char *text, size_t bytes)
{
	struct um_yaml_file *file;
	int error = um_yaml_parse(&file, path, text, bytes);

	if (error)
		return error;
	error = spec_from_file(out, file);
	um_yaml_destroy(file);
	return error;
}

static int load_path(struct um_machine_spec **out, const char *path)
{
	struct um_yaml_file *file;
	int error = um_yaml_load(&file, path);

	if (error)
		return error;
	error = spec_from_file(out, file);
	um_yaml_destroy(file);
	return error;
}

void um_machine_spec_destroy(struct um_machine_spec *spec)
{
	if (!spec)
		return;
	um_machine_drop_settings(spec);
	free(spec->topology);
	free(spec->path);
	free(spec->text);
	free(spec);
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

bool um_machine_is_path(const char *name)
{
	return strchr(name, '/') || ends_with(name, ".yaml") || ends_with(name, ".yml");
}

static int is_machine_file(const struct dirent *entry)
{
	return ends_with(entry->d_name, ".yaml");
}

static int names_of(char ***names, size_t *count, struct dirent **entries, size_t entry_count)
{
	*count = 0;
	*names = calloc(entry_count + 1, sizeof(**names));
	if (!*names)
		return out_of_memory();
	for (size_t i = 0; i < entry_count; i++) {
		size_t length = strlen(entries[i]->d_name) - strlen(".yaml");

		(*names)[i] = strndup(entries[i]->d_name, length);
		if (!(*names)[i])
			return out_of_memory();
		++*count;
	}
	return 0;
}

static void free_names(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

int um_machine_names(char ***names, size_t *count)
{
	struct dirent **entries = NULL;
	char *folder = NULL;
	int found = -1, error = um_path_share(&folder, "machines");

	if (!error) {
		found = scandir(folder, &entries, is_machine_file, alphasort);
		error = found < 0 ? um_fail_errno(UM_EIO, "%s", folder)
				  : names_of(names, count, entries, (size_t)found);
		if (error && found >= 0)
			free_names(*names, *count);
	}
	for (int i = 0; i < found; i++)
		free(entries[i]);
	free(entries);
	free(folder);
	return error;
}

/* Lists those there are, for who gave another. */
static int unknown_machine(const char *name)
{
	char **names, list[400] = "";
	size_t count, used = 0;
	int error = um_machine_names(&names, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 names[i]);
	free_names(names, count);
	return um_fail(UM_ENOENT, "no machine \"%.48s\": there are %s, or give a file (./my.yaml)",
		       name, list);
}

int um_machine_load(struct um_machine_spec **out, const char *name)
{
	char *folder = NULL, *path = NULL;

	if (!name)
		name = UM_MACHINE_DEFAULT;
	if (um_machine_is_path(name))
		return load_path(out, name);
	int error = um_path_share(&folder, "machines");
	if (error)
		return error;
	if (asprintf(&path, "%s/%s.yaml", folder, name) < 0) {
		path = NULL;
		error = out_of_memory();
	} else if (access(path, F_OK) != 0) {
		error = unknown_machine(name);
	} else {
		error = load_path(out, path);
	}
	free(path);
	free(folder);
	return error;
}
