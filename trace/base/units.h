/*
 * Quantities with units, as people write and read them: "64KiB", "1.5GiB", "12.5GB/s", "20us".
 * Bytes take the IEC prefixes only (KiB, MiB, GiB, TiB, or B); "64KB" is refused with the
 * question that it deserves ("did you mean 64KiB?"). Bandwidth takes SI (kB/s, MB/s, GB/s, TB/s)
 * and IEC (KiB/s, ...). Times take ns, us, ms, s. A number needs its unit, except 0.
 */
#ifndef UM_UNITS_H
#define UM_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Each returns 0, or UM_EINVAL with a message that quotes `text`. Nothing may follow the unit. */
int um_parse_bytes(const char *text, uint64_t *out);
/* The same of a page's size, which must not be 0. */
int um_parse_page_bytes(const char *text, uint64_t *out);
/* The same of a device's memory, in whole pages of 4 KiB. */
#define UM_MEMORY_BYTES_MIN  4096u
#define UM_MEMORY_BYTES_MAX  (UINT64_C(1) << 48)
#define UM_MEMORY_PAGE_BYTES 4096u
int um_parse_memory_bytes(const char *text, uint64_t *out);
int um_parse_bandwidth(const char *text, double *out_bytes_per_second);
int um_parse_duration(const char *text, uint64_t *out_ns);
/* "0.8x", a number of times; not negative. */
int um_parse_multiple(const char *text, double *out);
int um_parse_u64(const char *text, uint64_t *out);

/* "64 KiB", "1.5 GiB", "12 B": at most 4 significant digits. Returns `buffer` (32 bytes do). */
char *um_format_bytes(char *buffer, size_t capacity, uint64_t bytes);
/* "12.5 GB/s" */
char *um_format_bandwidth(char *buffer, size_t capacity, double bytes_per_second);
/* "1.25 ms" */
char *um_format_duration(char *buffer, size_t capacity, uint64_t ns);
/* "1,234,567" */
char *um_format_count(char *buffer, size_t capacity, uint64_t count);

#endif
