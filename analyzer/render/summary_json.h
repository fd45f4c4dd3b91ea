/* A summary as a value of JSON, for what shows it as a part of something larger. */
#ifndef UM_SUMMARY_JSON_H
#define UM_SUMMARY_JSON_H

#include "render_summary.h"

#include <jansson.h>

/* The object that `umanalyze summary --format=json` prints; NULL where there is no memory. */
json_t *um_summary_json(const struct um_summary *);

#endif
