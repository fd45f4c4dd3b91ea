/* Settings of a driver model, for a summary's head. */
#ifndef UM_SUMMARY_SETTINGS_H
#define UM_SUMMARY_SETTINGS_H

/*
 * Those of `parameters` (run.driver_parameters, a JSON object) that are not the defaults of the driver model's
 * own table, and how many are; all of them, where `driver` (NULL is legal) is no model that is known here.
 * malloc'ed; NULL: there are none, or no memory.
 */
char *um_summary_settings_text(const char *driver, const char *parameters);

#endif
