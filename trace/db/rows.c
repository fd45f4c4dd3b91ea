#include "rows.h"

#include "trace/spool/spool_record.h"

#define FIELD(kind, field, ...)                                                                    \
	{                                                                                          \
		.name = #field, .type = UM_COLUMN_##kind, .offset = offsetof(ROW, field),          \
		__VA_ARGS__                                                                        \
	}
#define INT(field)   FIELD(INT, field)
#define INT_(field)  FIELD(INT, field, .required = true)
#define ID(field)    FIELD(ID, field)
#define REAL(field)  FIELD(REAL, field)
#define TEXT(field)  FIELD(TEXT, field)
#define TEXT_(field) FIELD(TEXT, field, .required = true)
#define BLOB_(field) FIELD(BLOB, field, .required = true)
#define LINES(field)                                                                               \
	FIELD(MASK, field, .other_offset = offsetof(ROW, touch), .unless = UM_TOUCH_LINES_UNKNOWN)
#define WORD(field, ...)                                                                           \
	FIELD(WORD, field, .stored = #field "_code", .words = um_##field##_words, __VA_ARGS__)
#define WORD_(field) WORD(field, .required = true)
#define END(field)                                                                                 \
	FIELD(END, field, .other_offset = offsetof(ROW, start_ns), .stored = "duration_ns")
#define TABLE(table, order) TABLE_SINCE(1, table, order)
#define TABLE_SINCE(version, table, order)                                                         \
	const struct um_table um_table_##table = {                                                 \
		.name = #table,                                                                    \
		.since = version,                                                                  \
		.order_by = order,                                                                 \
		.row_bytes = sizeof(struct um_##table##_row),                                      \
		.columns = table##_columns,                                                        \
	}

/* A trailing _ says NOT NULL. */
/* clang-format off */

#define ROW struct um_run_row
static const struct um_column run_columns[] = {
	TEXT_(role), TEXT_(tool), TEXT_(command), TEXT(source), TEXT(backend), TEXT(runtime),
	TEXT(host), INT(pid), INT(rank), INT(ranks), TEXT(rank_source), TEXT(job), TEXT(executable), TEXT(environment), TEXT(started), TEXT_(clock), INT_(start_ns), INT(end_ns),
	TEXT_(ended), INT(exit_status), INT(exit_signal), TEXT(host_watch), INT(filter_pages),
	TEXT(machine), TEXT(machine_text), TEXT(driver), TEXT(driver_parameters), TEXT(xnack), TEXT(xnack_source),
	INT(page_bytes), INT(memory_bytes), TEXT(driver_version), TEXT(clocks), TEXT(policy), {0},
};
TABLE(run, "id");
#undef ROW

#define ROW struct um_device_row
static const struct um_column device_columns[] = {
	INT_(device), TEXT_(name), TEXT(arch), INT(memory_bytes), INT(compute_units), ID(wave_lanes), TEXT(link),
	REAL(link_to_device_bytes_per_s), REAL(link_to_host_bytes_per_s), {0},
};
TABLE(device, "device");
#undef ROW

#define ROW struct um_origin_row
static const struct um_column origin_columns[] = {
	TEXT_(record), TEXT_(origin), TEXT_(clock), TEXT(detail), {0},
};
TABLE(origin, "record");
#undef ROW

#define ROW struct um_site_row
static const struct um_column site_columns[] = {INT_(site), INT(parent), {0}};
TABLE(site, "site");
#undef ROW

#define ROW struct um_frame_row
static const struct um_column frame_columns[] = {
	INT_(site), INT_(depth), TEXT_(module), TEXT(build_id), INT_(offset_bytes), TEXT(function), TEXT(file),
	INT(line), INT_(inlined), {0},
};
TABLE(frame, "site, depth");
#undef ROW

#define ROW struct um_allocation_row
static const struct um_column allocation_columns[] = {
	INT_(allocation), TEXT_(kind), INT_(bytes), INT_(flags), INT(device), INT(address), INT(op),
	INT(freed_op), INT(site), TEXT(name), {0},
};
TABLE(allocation, "allocation");
#undef ROW

#define ROW struct um_op_row
static const struct um_column op_columns[] = {
	INT_(op), TEXT_(kind), INT_(flags), INT(thread), INT(stream), INT(start_ns), INT(end_ns),
	INT(result), INT(site), INT(allocation), INT(offset_bytes), INT(bytes),
	INT(source_allocation), INT(source_offset_bytes), INT(device), TEXT(advice), INT(event),
	INT(value), {0},
};
TABLE(op, "op");
#undef ROW

#define ROW struct um_kernel_row
static const struct um_column kernel_columns[] = {
	INT_(op), TEXT_(name), TEXT(symbol), INT_(grid_x), INT_(grid_y), INT_(grid_z),
	INT_(block_x), INT_(block_y), INT_(block_z), INT(lds_bytes), INT(reads), INT(writes),
	INT(atomics), INT(bytes_read), INT(bytes_written), INT(recorded), {0},
};
TABLE(kernel, "op");
#undef ROW

#define ROW struct um_selection_row
static const struct um_column selection_columns[] = {
	TEXT_(criterion), TEXT_(value), INT(matched), {0},
};
TABLE_SINCE(5, selection, "rowid");
#undef ROW

#define ROW struct um_page_access_row
static const struct um_column page_access_columns[] = {
	INT_(op), INT_(allocation), INT_(first_page), INT_(pages), INT_(touch), LINES(lines_read),
	LINES(lines_written), INT(requests), INT(atomics), {0},
};
TABLE(page_access, "op, allocation, first_page");
#undef ROW

#define ROW struct um_host_access_row
static const struct um_column host_access_columns[] = {
	INT_(op), INT_(allocation), INT_(first_page), WORD_(access), INT_(pages), INT(site),
	INT_(touch), {0},
};
TABLE_SINCE(5, host_access, "op, allocation, first_page, access_code");
#undef ROW

#define ROW struct um_access_chunk_row
static const struct um_column access_chunk_columns[] = {
	INT_(op), INT_(chunk), INT_(first_group), INT_(last_group), INT_(touches),
	INT_(payload_bytes), BLOB_(data), {0},
};
TABLE(access_chunk, "op, chunk");
#undef ROW

#define ROW struct um_fault_row
static const struct um_column fault_columns[] = {
	INT(op), INT_(device), INT(allocation), INT(first_page), INT_(pages), ID(address),
	INT(faults), WORD(access), INT(batch), ID(site), INT_(start_ns), END(end_ns), {0},
};
TABLE(fault, "rowid");
#undef ROW

#define ROW struct um_migration_row
static const struct um_column migration_columns[] = {
	INT(op), INT(allocation), INT(first_page), INT_(pages), ID(address), INT(bytes),
	INT_(source), INT_(destination), WORD(cause), INT(transfers), INT(batch), INT_(start_ns),
	END(end_ns), {0},
};
TABLE(migration, "rowid");
#undef ROW

#define ROW struct um_mapping_row
static const struct um_column mapping_columns[] = {
	INT(op), INT_(device), INT(allocation), INT(first_page), INT_(pages), ID(address),
	WORD_(change), WORD(cause), ID(batch), INT_(at_ns), {0},
};
TABLE(mapping, "rowid");
#undef ROW

#define ROW struct um_remote_access_row
static const struct um_column remote_access_columns[] = {
	INT_(op), INT_(device), INT_(allocation), INT_(first_page), INT_(pages), INT_(lines_read),
	INT_(lines_written), INT(requests), INT_(bytes_to_device), INT_(bytes_to_host), {0},
};
TABLE(remote_access, "rowid");
#undef ROW

#define ROW struct um_driver_event_row
static const struct um_column driver_event_columns[] = {
	INT(op), INT(device), TEXT_(kind), ID(address), TEXT(reason), INT(allocation), INT(first_page), INT(pages),
	INT_(count), INT_(start_ns), INT(end_ns), INT(waited_ns), {0},
};
TABLE_SINCE(2, driver_event, "rowid");
#undef ROW

#define ROW struct um_bound_row
static const struct um_column bound_columns[] = {
	TEXT_(quantity), INT(page_bytes), INT_(value), {0},
};
TABLE_SINCE(2, bound, "rowid");
#undef ROW

#define ROW struct um_copy_traffic_row
static const struct um_column copy_traffic_columns[] = {
	INT_(op), INT(allocation), INT_(bytes_to_device), INT_(bytes_to_host), INT_(start_ns),
	INT_(end_ns), {0},
};
TABLE(copy_traffic, "op");
#undef ROW

#define ROW struct um_peer_traffic_row
static const struct um_column peer_traffic_columns[] = {
	INT_(op), INT(allocation), INT_(source), INT_(destination), INT_(bytes), TEXT_(cause), {0},
};
TABLE_SINCE(7, peer_traffic, "rowid");
#undef ROW

#define ROW struct um_user_range_row
static const struct um_column user_range_columns[] = {INT_(op), INT(last_op), TEXT_(name), {0}};
TABLE_SINCE(4, user_range, "op");
#undef ROW

#define ROW struct um_part_row
static const struct um_column part_columns[] = {
	INT_(part), INT_(allocation), INT_(offset_bytes), INT_(bytes), TEXT_(name), INT(site), INT_(op), INT(end_op), {0},
};
TABLE_SINCE(5, part, "part");
#undef ROW

#define ROW struct um_loss_row
static const struct um_column loss_columns[] = {
	INT(op), INT(device), TEXT(record), TEXT_(kind), INT_(count), INT(start_ns), INT(end_ns),
	TEXT(detail), {0},
};
TABLE(loss, "rowid");
#undef ROW
/* clang-format on */

const struct um_table *const um_tables[] = {
	&um_table_run,		&um_table_device,	 &um_table_origin,
	&um_table_site,		&um_table_frame,	 &um_table_allocation,
	&um_table_op,		&um_table_kernel,	 &um_table_page_access,
	&um_table_access_chunk, &um_table_fault,	 &um_table_migration,
	&um_table_mapping,	&um_table_remote_access, &um_table_driver_event,
	&um_table_bound,	&um_table_copy_traffic,	 &um_table_peer_traffic,
	&um_table_user_range,	&um_table_part,		 &um_table_selection,
	&um_table_host_access,	&um_table_loss,		 NULL,
};
