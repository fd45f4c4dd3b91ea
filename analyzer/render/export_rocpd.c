/*
 * A rocpd database, schema 3, as far as it has a place for what a trace holds: its tables and columns are
 * rocprofiler-sdk's (share/rocprofiler-sdk-rocpd/rocpd_tables.sql), and what stands in them is as rocprofv3 writes it
 * (lib/output/generateRocpd.cpp). Each table's name ends in "_" and a GUID, with a view without.
 *
 *   launches              rocpd_kernel_dispatch        calls                 rocpd_region
 *   explicit copies       rocpd_memory_copy            device and pinned allocations  rocpd_memory_allocate
 *   migrations, faults of devices, stops of queues, unmappings, losses: regions with KFD's categories
 *
 * Left out, having no place: accesses, faults of the host, remote accesses, mappings that came, stacks. rocpd has no
 * word for where figures are from either: rocpd_metadata has tags "umtrace.origin.RECORD" ('modelled', ...).
 */
#include "export.h"

#include "trace/base/error.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GUID_DIGITS "@@@@@@@@@@@@" /* the run's own stand here in the end */
#define SUFFIX	    "_756d7472_6163_4000_8000_" GUID_DIGITS
#define GUID	    "756d7472-6163-4000-8000-" GUID_DIGITS

/* What all but rocpd_metadata begin with. */
#define HEAD                                                                                       \
	"id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT DEFAULT '" GUID "' NOT NULL, "
#define DATA ", extdata JSONB DEFAULT '{}' NOT NULL"
#define WHO  "nid INTEGER NOT NULL, pid INTEGER NOT NULL"
#define SPAN "start BIGINT NOT NULL, \"end\" BIGINT NOT NULL"

static const struct {
	const char *name, *columns;
} tables[] = {
	{"metadata",
	 "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, tag TEXT NOT NULL, value TEXT NOT NULL"},
	{"string", HEAD "string TEXT NOT NULL UNIQUE"},
	{"info_node",
	 HEAD "hash BIGINT NOT NULL, machine_id TEXT NOT NULL, system_name TEXT, hostname TEXT, "
	      "release TEXT, version TEXT, hardware_name TEXT, domain_name TEXT"},
	{"info_process",
	 HEAD "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, init BIGINT, fini BIGINT, "
	      "start BIGINT, \"end\" BIGINT, command TEXT, environment JSONB DEFAULT '{}' NOT "
	      "NULL" DATA},
	{"info_thread",
	 HEAD "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, tid INTEGER NOT NULL, "
	      "name TEXT, start BIGINT, \"end\" BIGINT" DATA},
	{"info_agent",
	 HEAD WHO ", type TEXT, absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, "
		  "uuid INTEGER, name TEXT, model_name TEXT, vendor_name TEXT, product_name TEXT, "
		  "user_name TEXT" DATA},
	{"info_queue", HEAD WHO ", name TEXT" DATA},
	{"info_stream", HEAD WHO ", name TEXT" DATA},
	{"info_pmc", HEAD WHO
	 ", agent_id INTEGER, target_arch TEXT, event_code INT, instance_id INTEGER, name TEXT NOT "
	 "NULL, symbol TEXT NOT NULL, description TEXT, long_description TEXT DEFAULT '', "
	 "component TEXT, units TEXT DEFAULT '', value_type TEXT, block TEXT, expression TEXT, "
	 "is_constant INTEGER, is_derived INTEGER" DATA},
	{"info_code_object",
	 HEAD WHO ", agent_id INTEGER, uri TEXT, load_base BIGINT, load_size BIGINT, load_delta "
		  "BIGINT, storage_type TEXT" DATA},
	{"info_kernel_symbol",
	 HEAD WHO ", code_object_id INTEGER NOT NULL, kernel_name TEXT, display_name TEXT, "
		  "kernel_object INTEGER, kernarg_segment_size INTEGER, "
		  "kernarg_segment_alignment INTEGER, group_segment_size INTEGER, "
		  "private_segment_size INTEGER, sgpr_count INTEGER, arch_vgpr_count INTEGER, "
		  "accum_vgpr_count INTEGER" DATA},
	{"track", HEAD "nid INTEGER NOT NULL, pid INTEGER, tid INTEGER, name_id INTEGER" DATA},
	{"event", HEAD
	 "category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, "
	 "call_stack JSONB DEFAULT '{}' NOT NULL, line_info JSONB DEFAULT '{}' NOT NULL" DATA},
	{"arg", HEAD
	 "event_id INTEGER NOT NULL, position INTEGER NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL, "
	 "value TEXT" DATA},
	{"pmc_event",
	 HEAD "event_id INTEGER, pmc_id INTEGER NOT NULL, value REAL DEFAULT 0.0" DATA},
	{"region", HEAD WHO ", tid INTEGER NOT NULL, " SPAN
			    ", name_id INTEGER NOT NULL, event_id INTEGER" DATA},
	{"sample",
	 HEAD "track_id INTEGER NOT NULL, timestamp BIGINT NOT NULL, event_id INTEGER" DATA},
	{"kernel_dispatch", HEAD WHO
	 ", tid INTEGER, agent_id INTEGER NOT NULL, kernel_id INTEGER NOT NULL, dispatch_id "
	 "INTEGER NOT NULL, queue_id INTEGER NOT NULL, stream_id INTEGER NOT NULL, " SPAN
	 ", private_segment_size INTEGER, group_segment_size INTEGER, workgroup_size_x "
	 "INTEGER NOT NULL, workgroup_size_y INTEGER NOT NULL, workgroup_size_z INTEGER "
	 "NOT NULL, grid_size_x INTEGER NOT NULL, grid_size_y INTEGER NOT NULL, "
	 "grid_size_z INTEGER NOT NULL, region_name_id INTEGER, event_id INTEGER" DATA},
	{"memory_copy", HEAD WHO
	 ", tid INTEGER, " SPAN ", name_id INTEGER NOT NULL, dst_agent_id INTEGER, dst_address "
	 "INTEGER, src_agent_id INTEGER, src_address INTEGER, size INTEGER NOT NULL, queue_id "
	 "INTEGER, stream_id INTEGER, region_name_id INTEGER, event_id INTEGER" DATA},
	{"memory_allocate", HEAD WHO
	 ", tid INTEGER, agent_id INTEGER, type TEXT, level TEXT, " SPAN ", address INTEGER, "
	 "size INTEGER NOT NULL, queue_id INTEGER, stream_id INTEGER, event_id INTEGER" DATA},
};

/* --- rows; R(x) is the table's whole name --- */

#define R(name) "\"rocpd_" name SUFFIX "\""
/* The id of a text, which is there by then. */
#define STRING(text) "(SELECT id FROM " R("string") " WHERE string = " text ")"
/* Agents: 1 is the host, 2 the first device; as nodes of the topology 0 and 1. */
#define NODE(device) "CAST(" device " + 1 AS TEXT)"
/* Memory whose address nobody told has one by its allocation's number. */
#define BASE "(COALESCE(a.address, a.allocation << 40) & ~4095)"
/* Kinds of record that have the clock of calls. */
#define SAME_CLOCK(record)                                                                         \
	"(SELECT clock FROM trace.origin WHERE record = '" record                                  \
	"') IS (SELECT clock FROM trace.origin WHERE record = 'op.time')"

static const char
	context_sql[] =
		"INSERT INTO " R(
			"metadata") " (tag, value) VALUES ('schema_version', '3'), ('uuid', '" SUFFIX
				    "'), ('guid', '" GUID "');"
				    "INSERT INTO " R(
					    "metadata") " (tag, value) SELECT 'umtrace.origin.' || record, origin FROM trace.origin;"
							"INSERT INTO " R(
								"info_node") " (id, hash, machine_id, hostname) SELECT 1, 1, COALESCE(host, 'not told'), host "
									     "FROM trace.run;"
									     "INSERT INTO " R(
										     "info_process") " (id, nid, pid, start, \"end\", command) SELECT 1, 1, COALESCE(pid, 0), start_ns, "
												     "end_ns, command FROM trace.run;"
												     "INSERT INTO " R(
													     "info_thread") " (id, nid, pid, tid) SELECT DISTINCT COALESCE(thread, 1), 1, 1, COALESCE(thread, 1) "
															    "FROM trace.op UNION SELECT 1, 1, 1, 1;"
															    "INSERT INTO " R(
																    "info_agent") " (id, nid, pid, type, absolute_index, logical_index, type_index, name, product_name) "
																		  "SELECT 1, 1, 1, 'CPU', 0, 0, 0, 'host', 'host' UNION ALL SELECT device + 2, 1, 1, 'GPU', device + 1, device + 1, "
																		  "device, COALESCE(arch, name), name FROM trace.device;"
																		  "INSERT INTO " R(
																			  "info_stream") " (id, nid, pid, name) SELECT DISTINCT COALESCE(stream, 0) + 1, 1, 1, 'stream ' || "
																					 "COALESCE(stream, 0) FROM trace.op UNION SELECT 1, 1, 1, 'stream 0';"
																					 "INSERT INTO " R("info_queue") " (id, nid, pid, name) SELECT id, 1, 1, name FROM " R("info_stream") ";"
																																	     "INSERT INTO " R(
																																		     "info_code_object") " (id, nid, pid, storage_type) VALUES (1, 1, 1, 'MEMORY');"
																																					 "INSERT INTO " R(
																																						 "info_kernel_symbol") " (nid, pid, code_object_id, kernel_name, display_name) SELECT DISTINCT 1, 1, "
																																								       "1, COALESCE(symbol, name), name FROM trace.kernel;";

/* What is told of each call that rocpd has a region for. */
static const char calls_sql[] =
	"CREATE TEMP TABLE call (kind PRIMARY KEY, name);"
	"INSERT INTO call VALUES ('free', 'hipFree'), ('advise', 'hipMemAdvise'), ('prefetch', 'hipMemPrefetchAsync'), "
	"('memset', 'hipMemset'), ('sync_device', 'hipDeviceSynchronize'), ('sync_stream', 'hipStreamSynchronize'), "
	"('alloc', 'hipMalloc'), ('alloc managed', 'hipMallocManaged'), ('alloc pinned', 'hipHostMalloc');"
	"INSERT OR IGNORE INTO " R(
		"string") " (string) SELECT name FROM call UNION SELECT name FROM trace.kernel UNION SELECT "
			  "* FROM (VALUES ('HIP_RUNTIME_API'), ('KERNEL_DISPATCH'), ('MEMORY_COPY'), ('MEMORY_ALLOCATION'), "
			  "('MEMORY_COPY_HOST_TO_DEVICE'), ('MEMORY_COPY_DEVICE_TO_HOST'), ('MEMORY_COPY_DEVICE_TO_DEVICE'), "
			  "('MEMORY_COPY_HOST_TO_HOST'));"
			  "CREATE TEMP TABLE told AS SELECT op.op AS op, op.start_ns AS start, COALESCE(op.end_ns, op.start_ns) AS stop, "
			  "COALESCE(op.thread, 1) AS tid, call.name AS name, op.device, op.bytes, CASE WHEN op.allocation IS NOT NULL THEN "
			  "COALESCE(a.address, a.allocation << 40) + COALESCE(op.offset_bytes, 0) END AS address FROM trace.op LEFT JOIN "
			  "trace.allocation AS a ON a.allocation = op.allocation JOIN call ON call.kind = CASE WHEN op.kind = 'alloc' AND a.kind "
			  "IN ('managed', 'pinned') THEN 'alloc ' || a.kind ELSE op.kind END WHERE op.start_ns IS NOT NULL;"
			  "INSERT INTO " R("event") " (id, category_id, stack_id, correlation_id) SELECT op, " STRING(
				  "'HIP_RUNTIME_API'") ", op, "
						       "op FROM told;"
						       "INSERT INTO " R("region") " (nid, pid, tid, start, \"end\", name_id, event_id) SELECT 1, 1, tid, start, stop, " STRING(
							       "told.name") ", op FROM told;"
									    "INSERT INTO " R(
										    "arg") " (event_id, position, type, name, value) SELECT op, 0, 'const void*', 'dev_ptr', "
											   "printf('0x%llx', address) FROM told WHERE address IS NOT NULL AND name NOT LIKE '%alloc%';"
											   "INSERT INTO " R(
												   "arg") " (event_id, position, type, name, value) SELECT op, 1, 'size_t', CASE WHEN name LIKE "
													  "'%alloc%' THEN 'size' ELSE 'count' END, CAST(bytes AS TEXT) FROM told WHERE bytes IS NOT NULL;"
													  "INSERT INTO " R(
														  "arg") " (event_id, position, type, name, value) SELECT op, 2, 'int', 'device', CAST(device AS TEXT) "
															 "FROM told WHERE device IS NOT NULL AND name LIKE 'hipMem%';";

static const char device_sql[] = "INSERT INTO " R("event") " (id, category_id, stack_id, correlation_id) SELECT op, CASE kind WHEN 'launch' THEN " STRING("'KERNEL_DISPATCH'") " ELSE " STRING("'MEMORY_COPY'") " END, op, op FROM trace.op WHERE kind IN ('launch', 'copy') "
																										"AND start_ns IS NOT NULL;"
																										"INSERT INTO " R("kernel_dispatch") " (nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "
																														    "\"end\", group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, "
																														    "grid_size_z, region_name_id, event_id) SELECT 1, 1, COALESCE(op.thread, 1), COALESCE(op.device, 0) + 2, (SELECT id FROM " R("info_kernel_symbol") " WHERE display_name = k.name AND kernel_name = COALESCE(k.symbol, k.name)), op.op, "
																																																       "COALESCE(op.stream, 0) + 1, COALESCE(op.stream, 0) + 1, op.start_ns, COALESCE(op.end_ns, op.start_ns), k.lds_bytes, "
																																																       "k.block_x, k.block_y, k.block_z, k.block_x * k.grid_x, k.block_y * k.grid_y, k.block_z * k.grid_z, " STRING("k.name") ", op.op FROM trace.op JOIN trace.kernel AS k ON k.op = op.op WHERE op.start_ns IS NOT NULL;"
																																																															      /* hipMemcpyKind: 0 on the host, 1 to the device, 2 to the host, 3 between devices. */
																																																															      "INSERT INTO " R(
																																																																      "memory_copy") " (nid, pid, tid, start, \"end\", name_id, dst_agent_id, dst_address, src_agent_id, "
																																																																		     "src_address, size, queue_id, stream_id, event_id) SELECT 1, 1, COALESCE(op.thread, 1), op.start_ns, "
																																																																		     "COALESCE(op.end_ns, op.start_ns), " STRING(
																																																																			     "'MEMORY_COPY_' || CASE op.value WHEN 1 THEN 'HOST_TO_DEVICE' WHEN 2 THEN "
																																																																			     "'DEVICE_TO_HOST' WHEN 3 THEN 'DEVICE_TO_DEVICE' ELSE 'HOST_TO_HOST' END") ", CASE WHEN op.value IN (1, 3) THEN "
																																																																													"COALESCE(op.device, 0) + 2 ELSE 1 END, COALESCE(a.address + op.offset_bytes, 0), CASE WHEN op.value IN (2, 3) THEN "
																																																																													"COALESCE(op.device, 0) + 2 ELSE 1 END, COALESCE(s.address + op.source_offset_bytes, 0), COALESCE(op.bytes, 0), "
																																																																													"COALESCE(op.stream, 0) + 1, COALESCE(op.stream, 0) + 1, op.op FROM trace.op LEFT JOIN trace.allocation AS a ON "
																																																																													"a.allocation = op.allocation LEFT JOIN trace.allocation AS s ON s.allocation = op.source_allocation WHERE op.kind = "
																																																																													"'copy' AND op.start_ns IS NOT NULL;"
																																																																													"INSERT INTO " R(
																																																																														"memory_allocate") " (nid, pid, tid, agent_id, type, level, start, \"end\", address, size, event_id) "
																																																																																   "SELECT 1, 1, COALESCE(op.thread, 1), CASE a.kind WHEN 'device' THEN COALESCE(a.device, 0) + 2 ELSE 1 END, CASE op.op WHEN "
																																																																																   "a.op THEN 'ALLOC' ELSE 'FREE' END, 'REAL', op.start_ns, COALESCE(op.end_ns, op.start_ns), a.address, a.bytes, op.op FROM "
																																																																																   "trace.allocation AS a JOIN trace.op ON op.op IN (a.op, a.freed_op) WHERE a.kind IN ('device', 'pinned') AND a.address IS "
																																																																																   "NOT NULL AND op.start_ns IS NOT NULL;";

/* KFD's events: each is an event, a region and a value of a counter. */
static const char
	kfd_sql
		[] = "CREATE TEMP TABLE kfd (category, name, start, stop, value, extdata);"
		     "INSERT INTO kfd SELECT 'KFD_PAGE_MIGRATE', 'KFD_PAGE_MIGRATE_' || CASE WHEN m.cause IN ('device_fault', "
		     "'driver_prefetch', 'access_counter') THEN 'PAGEFAULT_GPU' WHEN m.cause = 'host_fault' THEN 'PAGEFAULT_CPU' WHEN m.cause "
		     "IN ('prefetch', 'advice') THEN 'PREFETCH' WHEN m.cause = 'eviction' THEN 'TTM_EVICTION' ELSE 'UNKNOWN' END, m.start_ns, "
		     "COALESCE(m.end_ns, m.start_ns), COALESCE(m.bytes, m.pages * 4096), json_object('kfd', json_object('start_address', "
		     "CAST(COALESCE(m.address, " BASE
		     " + m.first_page * 4096) AS TEXT), 'end_address', CAST(COALESCE(m.address, " BASE
		     " + m.first_page * 4096) + COALESCE(m.bytes, m.pages * 4096) AS TEXT), 'src_agent_id', " NODE("m.source") ", 'dst_agent_id', " NODE(
			     "m.destination") ", 'prefetch_agent_id', '-1', 'preferred_agent_id', '-1', 'error_code', '0')) FROM trace.migration "
					      "AS m LEFT JOIN trace.allocation AS a ON a.allocation = m.allocation WHERE COALESCE(m.bytes, m.pages) > 0 AND "
					      "COALESCE(m.address, a.allocation) IS NOT NULL AND " SAME_CLOCK(
						      "migration") ";"
								   "INSERT INTO kfd SELECT 'KFD_PAGE_FAULT', 'KFD_PAGE_FAULT_' || CASE WHEN f.access IN ('write', 'atomic') THEN "
								   "'WRITE_FAULT' ELSE 'READ_FAULT' END, f.start_ns, COALESCE(f.end_ns, f.start_ns), COALESCE(f.address, " BASE " + f.first_page * 4096), json_object('kfd', json_object('agent_id', " NODE("f.device") ", 'address', "
																																	"CAST(COALESCE(f.address, " BASE
																																	" + f.first_page * 4096) AS TEXT), 'count', CAST(COALESCE(f.faults, 1) AS TEXT))) FROM "
																																	"trace.fault AS f LEFT JOIN trace.allocation AS a ON a.allocation = f.allocation WHERE f.device >= 0 AND "
																																	"COALESCE(f.address, a.allocation) IS NOT NULL AND " SAME_CLOCK("fault") ";"
																																										 "INSERT INTO kfd SELECT 'KFD_QUEUE', 'KFD_QUEUE_EVICT_' || upper(COALESCE(reason, 'svm')), start_ns, COALESCE(end_ns, "
																																										 "start_ns), 1, json_object('kfd', json_object('agent_id', " NODE(
																																											 "COALESCE(device, 0)") ")) FROM trace.driver_event WHERE "
																																														"kind = 'queue_eviction' AND " SAME_CLOCK(
																																															"driver_event") ";"
																																																	"INSERT INTO kfd SELECT 'KFD_EVENT_UNMAP_FROM_GPU', 'KFD_EVENT_UNMAP_FROM_GPU', m.at_ns, m.at_ns, m.pages * 4096, "
																																																	"json_object('kfd', json_object('agent_id', " NODE("m.device") ", 'start_address', CAST(COALESCE(m.address, " BASE
																																																								       " + m.first_page * 4096) AS TEXT), 'end_address', CAST(COALESCE(m.address, " BASE
																																																								       " + m.first_page * 4096) + m.pages * "
																																																								       "4096 AS TEXT))) FROM trace.mapping AS m LEFT JOIN trace.allocation AS a ON a.allocation = m.allocation WHERE m.change = "
																																																								       "'unmapped' AND m.device >= 0 AND COALESCE(m.address, a.allocation) IS NOT NULL AND " SAME_CLOCK(
																																																									       "mapping") ";"
																																																											  "INSERT INTO kfd SELECT 'KFD_EVENT_DROPPED_EVENTS', 'KFD_EVENT_DROPPED_EVENTS', COALESCE(end_ns, 0), COALESCE(end_ns, 0), "
																																																											  "count, json_object('kfd', json_object('count', CAST(count AS TEXT))) FROM trace.loss WHERE kind = 'dropped';"
																																																											  "INSERT OR IGNORE INTO " R("string") " (string) SELECT category FROM kfd UNION SELECT name FROM kfd;"
																																																															       "INSERT INTO " R("event") " (id, category_id, stack_id, extdata) SELECT base + kfd.rowid, " STRING("category") ", 0, extdata FROM kfd, (SELECT COALESCE(MAX(op), 0) AS base FROM trace.op);"
																																																																													      "INSERT INTO " R("region") " (nid, pid, tid, start, \"end\", name_id, event_id) SELECT 1, 1, 1, start, stop, " STRING("name") ", base + kfd.rowid FROM kfd, (SELECT COALESCE(MAX(op), 0) AS base FROM trace.op);"
																																																																																													    "INSERT INTO " R(
																																																																																														    "info_pmc") " (nid, pid, name, symbol, description, value_type, block) SELECT DISTINCT 1, 1, category, "
																																																																																																"category, category, 'ABS', 'KFD' FROM kfd;"
																																																																																																"INSERT INTO " R("pmc_event") " (event_id, pmc_id, value) SELECT base + kfd.rowid, (SELECT id FROM " R(
																																																																																																	"info_pmc") " WHERE name = category), value FROM kfd, (SELECT COALESCE(MAX(op), 0) AS base FROM trace.op);"
																																																																																																		    "CREATE INDEX \"rocpd_arg_event" SUFFIX
																																																																																																		    "\" ON " R(
																																																																																																			    "arg") " (event_id);";

struct exporting {
	sqlite3 *sqlite;
	char path[64], digits[16];
};

static int failed(const struct exporting *exporting)
{
	return um_fail(UM_EIO, "rocpd: %s", sqlite3_errmsg(exporting->sqlite));
}

/* The last digits of the GUID are the run's, so that several files can be read side by side. */
static void stamp(char *sql, const char *digits)
{
	for (char *at = sql; (at = strstr(at, GUID_DIGITS));)
		for (size_t i = 0; digits[i]; i++)
			*at++ = digits[i];
}

static int execute(const struct exporting *exporting, const char *text)
{
	char *sql = strdup(text);

	if (!sql)
		return um_fail(UM_ENOMEM, "out of memory");
	stamp(sql, exporting->digits);
	int result = sqlite3_exec(exporting->sqlite, sql, NULL, NULL, NULL);
	free(sql);
	return result == SQLITE_OK ? 0 : failed(exporting);
}

/* FNV-1a of the trace's name, process and start. */
static int choose_digits(struct exporting *exporting, struct um_db *db)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	int64_t start_ns = 0, pid = 0;
	char text[600];
	int error = um_db_integer(db, "SELECT start_ns FROM run WHERE id = ?", 1, &start_ns);

	if (!error)
		error = um_db_integer(db, "SELECT pid FROM run WHERE id = ?", 1, &pid);
	snprintf(text, sizeof(text), "%lld %lld %.500s", (long long)start_ns, (long long)pid,
		 um_db_path(db));
	for (const char *at = text; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	snprintf(exporting->digits, sizeof(exporting->digits), "%012llx",
		 (unsigned long long)(hash & UINT64_C(0xffffffffffff)));
	return error;
}

static int make_tables(const struct exporting *exporting)
{
	char sql[2048];
	int error = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !error; i++) {
		snprintf(sql, sizeof(sql),
			 "CREATE TABLE \"rocpd_%s" SUFFIX
			 "\" (%s); CREATE VIEW rocpd_%s AS SELECT * FROM "
			 "\"rocpd_%s" SUFFIX "\"",
			 tables[i].name, tables[i].columns, tables[i].name, tables[i].name);
		error = execute(exporting, sql);
	}
	return error;
}

/* The trace is attached as a file of anyone's: nothing in its schema is trusted. */
static int attach(const struct exporting *exporting, const char *path)
{
	char *sql = sqlite3_mprintf(
		"PRAGMA trusted_schema = OFF; PRAGMA temp_store = FILE; ATTACH %Q AS trace; "
		"PRAGMA synchronous = OFF; BEGIN",
		path);
	int error = sql ? execute(exporting, sql) : um_fail(UM_ENOMEM, "out of memory");

	sqlite3_free(sql);
	return error;
}

static int fill(const struct exporting *exporting, const char *path)
{
	const char *const steps[] = {context_sql, calls_sql, device_sql, kfd_sql, "COMMIT"};
	int error = attach(exporting, path);

	if (!error)
		error = make_tables(exporting);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps) && !error; i++)
		error = execute(exporting, steps[i]);
	return error;
}

static int copy_out(const struct exporting *exporting, FILE *out)
{
	static char data[1 << 16];
	FILE *file = fopen(exporting->path, "re");
	size_t bytes;
	int error = 0;

	if (!file)
		return um_fail_errno(UM_EIO, "%s", exporting->path);
	while (!error && (bytes = fread(data, 1, sizeof(data), file)) > 0)
		if (fwrite(data, 1, bytes, out) != bytes)
			error = um_fail_errno(UM_EIO, "writing");
	if (!error && ferror(file))
		error = um_fail_errno(UM_EIO, "%s", exporting->path);
	fclose(file);
	return error;
}

/* SQLite writes where it likes in a file: it gets one of its own first. */
int um_export_rocpd(FILE *out, struct um_db *db, const struct um_export_choice *choice)
{
	const char *folder = getenv("TMPDIR");
	struct exporting exporting = {0};

	if (isatty(fileno(out)))
		return um_fail(UM_EINVAL, "rocpd is a database: -o FILE says where it goes");
	snprintf(exporting.path, sizeof(exporting.path), "%.40s/um-rocpd-XXXXXX",
		 folder && *folder && strlen(folder) <= 40 ? folder : "/tmp");
	int file = mkstemp(exporting.path);
	if (file < 0)
		return um_fail_errno(UM_EIO, "%s", exporting.path);
	close(file);
	int error = choose_digits(&exporting, db);

	if (!error && sqlite3_open(exporting.path, &exporting.sqlite) != SQLITE_OK)
		error = failed(&exporting);
	if (!error)
		error = fill(&exporting, um_db_path(db));
	sqlite3_close(exporting.sqlite);
	if (!error)
		error = copy_out(&exporting, out);
	unlink(exporting.path);
	if (!error && choice->note)
		choice->note(
			choice->note_context,
			"rocpd has no place for accesses, faults of the host, remote accesses and stacks: they "
			"are not in it, and rocpd_metadata says what each figure is (umtrace.origin.*)");
	return error;
}
