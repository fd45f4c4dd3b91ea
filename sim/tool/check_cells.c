/* Figures and errors as text and JSON. */
#include "check_command.h"

#include <jansson.h>
#include <math.h>

/* A digit behind the point while it tells something. */
static int digits(double error)
{
	return fabs(error) < 0.0995 ? 1 : 0;
}

const char *um_check_error_text(char *buffer, size_t capacity, const struct um_check_figure *figure)
{
	const char *mark = figure->is_other ? " !" : "";
	double error;

	if (!um_check_is_compared(figure))
		return "-";
	error = um_check_error(figure);
	if (error == 0)
		snprintf(buffer, capacity, "=%s", mark);
	else if (isinf(error))
		snprintf(buffer, capacity, "from 0%s", mark);
	else
		snprintf(buffer, capacity, "%s%+.*f %%%s", um_check_is_within(figure) ? "~" : "",
			 digits(error), error * 100, mark);
	return buffer;
}

const char *um_check_beyond_text(char *buffer, size_t capacity,
				 const struct um_check_figure *figure)
{
	double error = um_check_error(figure);

	if (isinf(error))
		return "a prediction of what did not happen";
	snprintf(buffer, capacity, "an error of %+.1f %%", error * 100);
	return buffer;
}

const char *um_check_size_text(char *buffer, size_t capacity, double error)
{
	if (error == 0)
		return "0";
	if (isinf(error))
		return "from 0";
	snprintf(buffer, capacity, "%.*f %%", digits(error), error * 100);
	return buffer;
}

json_t *um_check_number_json(bool is_there, double value)
{
	if (!is_there || !isfinite(value))
		return json_null();
	return value == floor(value) && fabs(value) < 0x1p53 ? json_integer((json_int_t)value)
							     : json_real(value);
}

json_t *um_check_figure_json(const struct um_check_figure *figure)
{
	bool is_compared = um_check_is_compared(figure), is_measured = figure->repetitions > 0;

	return json_pack(
		"{s:o, s:s?, s:o, s:s?, s:o, s:o, s:I, s:b, s:o, s:o, s:b}", "predicted",
		um_check_number_json(figure->is_predicted, figure->predicted), "predicted_origin",
		figure->is_predicted ? "modelled" : NULL, "measured",
		um_check_number_json(is_measured, figure->measured), "measured_origin",
		figure->origin, "least", um_check_number_json(is_measured, figure->least), "most",
		um_check_number_json(is_measured, figure->most), "repetitions",
		(json_int_t)figure->repetitions, "measured_is_least", figure->is_least, "error",
		um_check_number_json(is_compared, is_compared ? um_check_error(figure) : 0),
		"within_spread",
		is_compared ? json_boolean(um_check_is_within(figure)) : json_null(),
		"same_program", !figure->is_other);
}

json_t *um_check_name_json(const char *name)
{
	json_t *text = json_string(name);

	return text ? text : json_string("?");
}
