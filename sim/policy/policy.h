/*
 * A policy: machine, driver and its parameters, page size, memory, and rules that add
 * advice and prefetches to what the program does, or take the program's own away. Read from YAML;
 * every error says file, line and column. Later rules win.
 */
#ifndef UM_POLICY_H
#define UM_POLICY_H

#include "sim/driver/driver.h"
#include "sim/driver/evict.h"
#include "sim/machine/machine.h"
#include "sim/machine/param.h"

#include <stdbool.h>

struct um_db;

#define UM_DRIVER_DEFAULT "demand"

/* Which allocations a rule is about; what is unset matches all. */
struct um_selector {
	/* "file:line", "function" or "module+0xOFFSET", folders left out or not; shell wildcards */
	char *site;
	char *name;	/* shell wildcards */
	uint32_t index; /* n-th allocation of the program, from 1; 0 unset */
	char *kind;	/* managed, device, pinned, registered, pageable */
	uint64_t larger_than_bytes;
	bool has_range;
	uint64_t range_start, range_end; /* bytes within the allocation */
};

/* When: before the nth (0: every) launch whose name matches `before`; NULL: at allocation. */
struct um_moment {
	/*
	 * Shell wildcards over the kernel's name: as demangled, up to its arguments, or without its
	 * template arguments as well.
	 */
	char *before;
	uint32_t nth;
	uint32_t ahead; /* launches earlier */
};

/* Of um_rule.accessed_by: the host, which coherent links let map device memory. */
#define UM_BY_HOST (UINT32_C(1) << 31)

struct um_rule {
	unsigned line; /* in the file */
	struct um_selector on;
	struct um_moment at;
	/* advise */
	bool has_preferred_location, has_read_mostly, has_coarse_grain;
	um_device_id preferred_location;
	uint32_t accessed_by; /* bit n: device n; UM_BY_HOST */
	bool read_mostly, coarse_grain;
	char *allocate_as; /* "managed", "device", "pinned" or NULL */
	/* prefetch */
	bool is_prefetch;
	um_device_id to;
	bool own_stream; /* else the stream of the launch */
};

/* From 1; 0: not of the file. */
struct um_policy_place {
	unsigned line, column;
};

/* A parameter of a driver that only the machine will name. */
struct um_policy_setting {
	char *name, *text;
	struct um_policy_place name_at, text_at;
};

enum um_xnack { UM_XNACK_UNKNOWN = -1, UM_XNACK_OFF, UM_XNACK_ON };

/* Who decided. */
enum um_xnack_source {
	UM_XNACK_BY_MACHINE, /* nobody did: its default */
	UM_XNACK_BY_TRACE,
	UM_XNACK_BY_POLICY,
	UM_XNACK_BY_OPTION,
};

/* `memory` of a policy, of each device: bytes, or a multiple of the footprint; neither: all of it. */
struct um_memory_limit {
	uint64_t bytes;
	double times; /* 0: none */
};

/* Who decided. */
enum um_memory_source {
	UM_MEMORY_BY_MACHINE, /* nobody did: all that it has */
	UM_MEMORY_BY_TRACE,
	UM_MEMORY_BY_POLICY,
	UM_MEMORY_BY_OPTION,
};

struct um_policy {
	char *path;    /* "-" for the built-in empty one */
	char *machine; /* name or file (relative to the policy's folder); NULL: default */
	const struct um_driver_ops *driver; /* never NULL; UM_DRIVER_DEFAULT until it is settled */
	struct um_param_value *params;	    /* one for each of driver->params */
	uint64_t params_named;		    /* bit n: params[n] is not the machine's to set */
	bool driver_named;		    /* by the file or an option: settling leaves it */
	struct um_policy_setting *settings; /* until then */
	size_t setting_count;
	bool is_settled;
	enum um_xnack xnack_asked; /* by an option, over the file; UNKNOWN: not */
	enum um_xnack xnack;	   /* once settled; devices that have no such switch: on */
	enum um_xnack_source xnack_source;
	struct um_policy_place page_at;
	const struct um_evict_ops *evict; /* NULL: the driver's own order */
	uint32_t evict_seed;		  /* of `random` */
	uint64_t page_bytes;		  /* 0: the driver's default */
	uint64_t memory_bytes;		  /* 0: the machine's, or a multiple not yet settled */
	double memory_times;	  /* of the footprint, which settling makes bytes; 0: none */
	uint64_t footprint_bytes; /* once settled, where it is a multiple */
	enum um_memory_source memory_source;
	bool keep_program_advice,
		keep_program_prefetch; /* `program: {advice: keep|drop, prefetch: keep|drop}` */
	/* `program: {without: ["a.hip:42"]}`: not what the program advises and prefetches there */
	struct um_policy_without {
		char *site; /* as of um_selector */
		unsigned line;
	} * without;
	size_t without_count;
	struct um_rule *rules; /* in file order */
	size_t rule_count;
};

/* UM_EINVAL: "file:line:column: what is wrong"; UM_ENOENT, UM_EIO (the file), UM_ENOMEM. */
int um_policy_load(struct um_policy **out, const char *path);
/* From a text (of a run's `policy`); `path` is for messages. */
int um_policy_parse(struct um_policy **out, const char *path, const char *text, size_t bytes);
/* No file: defaults throughout. */
int um_policy_default(struct um_policy **out);
/* A single value over what a file says: a key of it, "driver" (its name) or "driver.PARAMETER". */
struct um_policy_value {
	const char *key, *text;
	const char *source; /* begins the messages about it; outlives the policy */
};
/* The same as um_policy_load(), or um_policy_default() where `path` is NULL, with values over it. */
int um_policy_load_with(struct um_policy **out, const char *path,
			const struct um_policy_value *values, size_t count);
void um_policy_destroy(struct um_policy *);
/* The effective policy as YAML with every default spelled out; malloc'ed. UM_ENOMEM. */
int um_policy_text(char **out, const struct um_policy *);

/*
 * What a command line puts over the policy. UM_EINVAL: no such driver (lists them), or a page size
 * that the driver does not take, which settling finds where no driver is named yet. Another driver
 * than the file's starts with its defaults.
 */
int um_policy_set_driver(struct um_policy *, const char *name);
int um_policy_set_page_bytes(struct um_policy *, uint64_t page_bytes);
/*
 * What had to wait for the machine and the trace; called before um_simulate(), and again if it turns
 * out what the program had for XNACK. Errors have the place in the file where there is one.
 *
 * Where no driver was named it becomes the one that models the machine's own (gfx: amdgpu_svm; else
 * demand), and what the file says of a driver without a name, and its page size, are held against
 * it. Parameters that the policy does not have are those of the machine file (`drivers:`), and the
 * driver's defaults where that has none. XNACK becomes on or off: as the option has it, the file, the
 * traced program (UNKNOWN: it is not known, or was of another machine), or else the machine (a process
 * that does not ask: off; no such switch: on); a driver's parameter `xnack` receives it.
 *
 * UM_EINVAL: a machine file's `drivers:` with a driver or parameter that there is not, or a value
 * that it cannot have; XNACK asked to be on where the machine never retries faults, off where it has
 * no such switch, or asked for by the option of a driver that does not model it.
 */
int um_policy_settle(struct um_policy *, const struct um_machine_spec *, enum um_xnack traced);
/* "16GiB", or "0.8x": that much of the footprint. UM_EINVAL. */
int um_memory_limit_parse(struct um_memory_limit *out, const char *text);
void um_policy_set_memory(struct um_policy *, const struct um_memory_limit *);
/*
 * The footprint of a traced program: the most bytes of managed and device allocations that lived at
 * once, each in whole pages of 4 KiB, all devices together. With as much memory all of it fits.
 * UM_ENOMEM, or what reading the trace says.
 */
int um_policy_footprint(uint64_t *out, struct um_db *trace);
/*
 * What had to wait for the trace: memory_bytes become those of the option, the file, the trace if it
 * is of the same machine (by its name, as with XNACK) and had less than that, or else stay 0. A
 * multiple is rounded down to whole pages. UM_EINVAL: a multiple of nothing, or more than the
 * machine has.
 */
int um_policy_settle_memory(struct um_policy *, const struct um_machine_spec *,
			    struct um_db *trace);
/* "on" or "off". UM_EINVAL. */
int um_xnack_parse(enum um_xnack *out, const char *text);
const char *um_xnack_word(enum um_xnack); /* NULL: UNKNOWN */
/* Why a machine has what it has where nobody chose; NULL where there is no such switch. */
const char *um_xnack_default_source(const struct um_machine_spec *);
/* `lru`, `driver`, or `random:7` with its seed. UM_EINVAL lists the orders. */
int um_policy_set_evict(struct um_policy *, const char *text);
/* The order in which memory is given up, if it is not the driver's own: NULL if it is. */
const struct um_evict_ops *um_policy_hypothetical_order(const struct um_policy *);
/* UM_EINVAL: the policy has an order, and its driver, which is known, takes none. */
int um_policy_check_evict(const struct um_policy *);
/* UM_EINVAL with the rule's line where a rule names a device that the machine does not have. */
int um_policy_check_devices(const struct um_policy *, const struct um_machine_spec *);

/* Whether rule matches; site strings and name may be NULL. `index` counts from 1. */
struct um_allocation_facts {
	uint32_t index;
	const char *kind, *name;
	uint64_t bytes;
	const char *const *sites; /* every way to name its site, ends with NULL */
};
bool um_rule_matches(const struct um_rule *, const struct um_allocation_facts *);
/* Whether a call at `place` ("file:line", ...) is one that `site` names. */
bool um_site_matches(const char *site, const char *place);
/* Whether a launch of `kernel` (demangled) is one that `before` names; false at an allocation's. */
bool um_moment_names(const struct um_moment *, const char *kernel);
/* The same, and `nth` is right: how many-th launch with a matching name it is, from 1. */
bool um_moment_matches(const struct um_moment *, const char *kernel, uint32_t nth);

#endif
