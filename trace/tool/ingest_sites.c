/* Places in the program: what its files say of them, and which of a stack is the user's. */
#include "ingest_private.h"
#include "trace/db/runtime_frames.h"
#include "source_lines.h"

#include "trace/base/error.h"
#include "trace/base/sorted.h"
#include "trace/base/kernel_name.h"

#include <stdlib.h>
#include <string.h>

#define MAX_INLINED 16 /* frames of one address */

/* --- those that are known --- */

const struct um_known_site *um_ingest_known_site(const struct um_ingest *ingest, uint32_t site)
{
	return um_sorted_find(ingest->sites, ingest->site_count, sizeof(*ingest->sites), site);
}

static uint32_t last_site(const struct um_ingest *ingest)
{
	return ingest->site_count ? ingest->sites[ingest->site_count - 1].site : 0;
}

uint32_t um_ingest_user_site(const struct um_ingest *ingest, uint32_t site)
{
	const struct um_known_site *known = um_ingest_known_site(ingest, site);

	return known && known->user ? known->user : site;
}

uint32_t um_ingest_launch_site(const struct um_ingest *ingest, uint32_t site, const char *kernel)
{
	const struct um_known_site *known =
		um_ingest_known_site(ingest, um_ingest_user_site(ingest, site));

	/* On the host a kernel's name is that of the function which launches it. */
	if (known && known->symbol && *kernel && strcmp(known->symbol, kernel) == 0 &&
	    known->parent)
		return um_ingest_user_site(ingest, known->parent);
	return known ? known->site : site;
}

/* --- what the program's files say --- */

struct place {
	const char *module, *build_id;
	const char *symbol; /* that lives as long as the ingest; NULL: none */
	struct um_source_frame frame[MAX_INLINED];
	size_t frames;
	char *function; /* malloc'ed; of the frame, where nothing better is known */
};

/* What the debug information says of the address; without any, the symbol. */
static void look_up(struct um_ingest *ingest, const struct um_record_site *site, const char *module,
		    const char *sent, struct place *place)
{
	*place = (struct place){.module = module};
	place->build_id = um_source_lines_build_id(ingest->lines, module);
	place->symbol = um_source_lines_symbol(ingest->lines, module, site->offset);
	place->frames = um_source_lines_find(ingest->lines, module, site->offset, place->frame,
					     MAX_INLINED);
	if (place->frames)
		return;
	place->function = um_ingest_demangle(place->symbol ? place->symbol : sent);
	place->frame[0].function = place->function && *place->function ? place->function : NULL;
	place->frames = 1;
}

static int insert_frames(struct um_ingest *ingest, const struct um_record_site *site,
			 const struct place *place)
{
	int result = 0;

	for (size_t i = 0; i < place->frames && result == 0; i++) {
		const struct um_source_frame *frame = &place->frame[i];
		struct um_frame_row row = {
			.site = site->site,
			.depth = (int64_t)i,
			.module = place->module,
			.build_id = place->build_id,
			.offset_bytes = (int64_t)site->offset,
			.function = frame->function,
			.file = frame->file,
			.line = um_or_null(frame->line),
			.inlined = frame->inlined,
		};
		result = um_ingest_insert(ingest, &um_table_frame, &row);
	}
	return result;
}

static bool is_runtime(const struct place *place)
{
	if (um_is_runtime_module(place->module) ||
	    (place->symbol && um_is_runtime_function(place->symbol, place->frame[0].file != NULL)))
		return true;
	for (size_t i = 0; i < place->frames; i++) {
		const struct um_source_frame *frame = &place->frame[i];

		if (!(frame->file && um_is_runtime_file(frame->file)) &&
		    !(frame->function && um_is_runtime_function(frame->function, frame->file)))
			return false;
	}
	return true;
}

static int know(struct um_ingest *ingest, const struct um_record_site *record,
		const struct place *place)
{
	const struct um_known_site *parent = um_ingest_known_site(ingest, record->parent);
	size_t capacity = ingest->site_capacity;

	if (ingest->site_count == capacity) {
		capacity = capacity ? 2 * capacity : 256;
		void *grown = reallocarray(ingest->sites, capacity, sizeof(*ingest->sites));

		if (!grown)
			return um_fail(UM_ENOMEM, "out of memory for %zu sites", capacity);
		ingest->sites = grown;
		ingest->site_capacity = capacity;
	}
	ingest->sites[ingest->site_count++] = (struct um_known_site){
		.site = record->site,
		.parent = record->parent,
		.frames = (uint32_t)place->frames,
		.module = um_source_lines_path(ingest->lines, place->module),
		.offset = record->offset,
		.user = !is_runtime(place) ? record->site
			: parent	   ? parent->user
					   : 0,
		.symbol = place->symbol,
		.inlined = place->frame[0].inlined ? place->frame[0].function : NULL,
	};
	return 0;
}

/* Whether the stub is that of the kernel `function`, as the source has its name. */
static bool launches(const char *stub, const char *function)
{
	char *signature = um_ingest_demangle(stub);
	struct um_kernel_name name =
		signature ? um_kernel_name(signature) : (struct um_kernel_name){0};
	size_t length = strlen(function);
	bool same = name.start && (length == name.length || length == name.bare_length) &&
		    strncmp(name.start, function, length) == 0;

	free(signature);
	return same;
}

/*
 * The function that has a kernel's name on the host may be inlined where it is launched: then it is
 * the innermost frame of the stub's caller, and says no more than the name.
 */
static int drop_inlined_kernel(struct um_ingest *ingest, const struct um_record_site *site,
			       const struct place *place)
{
	const struct um_known_site *parent = um_ingest_known_site(ingest, site->parent);
	const char *stub = place->symbol ? um_stub_kernel(place->symbol) : NULL;
	const int64_t values[] = {site->parent};

	if (!stub || !parent || !parent->inlined || !launches(stub, parent->inlined))
		return 0;
	int error = um_db_update(ingest->db, "DELETE FROM frame WHERE site = ? AND depth = 0",
				 values, 1);
	if (!error)
		error = um_db_update(
			ingest->db, "UPDATE frame SET depth = depth - 1 WHERE site = ?", values, 1);
	ingest->sites[parent - ingest->sites].inlined = NULL;
	ingest->sites[parent - ingest->sites].frames--;
	return error;
}

int um_ingest_site(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_site *site = record;
	const char *at = site->text;
	char module[UM_INGEST_TEXT], symbol[UM_INGEST_TEXT];
	struct place place;

	if (site->site == 0 || site->site <= last_site(ingest) || site->parent >= site->site ||
	    !um_ingest_text(&at, end, module) || !um_ingest_text(&at, end, symbol))
		return UM_RECORD_INVALID;
	int result = um_ingest_insert(ingest, &um_table_site,
				      &(struct um_site_row){site->site, um_or_null(site->parent)});
	if (result)
		return result;
	look_up(ingest, site, module, symbol, &place);
	result = insert_frames(ingest, site, &place);
	if (result == 0)
		result = know(ingest, site, &place);
	if (result == 0 && ingest->measured)
		result = drop_inlined_kernel(ingest, site, &place);
	free(place.function);
	return result;
}
