#include "render_json.h"
#include "render_ops.h"

#include "trace/base/error.h"

#include <stdbool.h>

/* Takes the value; false: there was no memory for it. */
static bool put(json_t *object, const char *name, json_t *value)
{
	return json_object_set_new(object, name, value) == 0;
}

static json_t *frame_json(const struct um_stack_frame *frame)
{
	json_t *object = json_object();

	if (put(object, "module", um_text_json(frame->module)) &&
	    put(object, "offset_bytes", um_integer_json(frame->offset_bytes)) &&
	    put(object, "function", um_nullable_text_json(frame->function)) &&
	    put(object, "file", um_nullable_text_json(frame->file)) &&
	    put(object, "line", um_integer_json(frame->line)) &&
	    put(object, "inlined", json_boolean(frame->inlined)))
		return object;
	json_decref(object);
	return NULL;
}

static json_t *stack_json(const struct um_op_view *view)
{
	json_t *array = json_array();

	for (size_t i = 0; i < view->frame_count; i++)
		if (json_array_append_new(array, frame_json(view->frames[i]))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *dimensions_json(const int64_t of[3])
{
	return json_pack("[o, o, o]", um_integer_json(of[0]), um_integer_json(of[1]),
			 um_integer_json(of[2]));
}

static json_t *kernel_json(const struct um_op_view *view)
{
	json_t *object = json_object();

	if (put(object, "name", um_text_json(view->kernel)) &&
	    put(object, "symbol", um_nullable_text_json(view->symbol)) &&
	    put(object, "grid", dimensions_json(view->grid)) &&
	    put(object, "block", dimensions_json(view->block)) &&
	    put(object, "lds_bytes", um_integer_json(view->lds_bytes)))
		return object;
	json_decref(object);
	return NULL;
}

/* The columns of op but its site, whose frames stand instead. */
static bool put_columns(json_t *object, const struct um_op_row *op)
{
	for (const struct um_column *column = um_table_op.columns; column->name; column++) {
		const char *field = (const char *)op + column->offset;
		json_t *value = column->type == UM_COLUMN_TEXT
					? um_nullable_text_json(*(const char *const *)field)
					: um_integer_json(*(const int64_t *)field);

		if (column->offset == offsetof(struct um_op_row, site)) {
			json_decref(value);
			continue;
		}
		if (!put(object, column->name, value))
			return false;
	}
	return true;
}

static json_t *op_json(const struct um_op_view *view)
{
	json_t *object = json_object();
	bool good = put_columns(object, &view->op) &&
		    put(object, "allocation_name", um_nullable_text_json(view->allocation_name)) &&
		    put(object, "allocation_kind", um_nullable_text_json(view->allocation_kind)) &&
		    put(object, "source_name", um_nullable_text_json(view->source_name)) &&
		    put(object, "kernel", view->kernel ? kernel_json(view) : json_null()) &&
		    put(object, "recorded",
			view->recorded == UM_NULL ? json_null() : json_boolean(view->recorded)) &&
		    put(object, "range", um_nullable_text_json(view->range)) &&
		    put(object, "part", um_nullable_text_json(view->part)) &&
		    put(object, "user", view->user ? frame_json(view->user) : json_null()) &&
		    put(object, "stack", stack_json(view));

	if (good)
		return object;
	json_decref(object);
	return NULL;
}

int um_render_op_json(const struct um_op_view *view, void *context)
{
	struct um_ops_output *output = context;
	json_t *object = op_json(view);

	if (!object)
		return um_fail(UM_ENOMEM, "out of memory");
	fputs(output->count++ ? ",\n" : "[\n", output->file);
	int error = json_dumpf(object, output->file, JSON_COMPACT) || ferror(output->file)
			    ? um_fail_errno(UM_EIO, "writing")
			    : 0;

	json_decref(object);
	return error;
}

int um_render_ops_json_end(struct um_ops_output *output)
{
	fputs(output->count ? "\n]\n" : "[]\n", output->file);
	return ferror(output->file) ? um_fail_errno(UM_EIO, "writing") : 0;
}
