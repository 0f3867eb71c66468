/* Writing a trace (dagtap/trace.h) in another tool's format: the same trace gives the same bytes.
 *
 * Threading: as dagtap/trace.h. Cost: memory is a few bytes an event; the rest is streamed. */
#ifndef DAGTAP_EXPORT_H
#define DAGTAP_EXPORT_H

#include <stddef.h>

#include <dagtap/error.h>
#include <dagtap/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dagtap_export_format {
	const char *name;      /* "xspace" */
	const char *extension; /* ".xplane.pb" */
	const char *help;      /* one line */
};

/* The formats that there are, from 0 on. 0; -ERANGE: no more. */
int dagtap_export_get_format(size_t index, struct dagtap_export_format *ret_format);

/* Writes TRACE to PATH in FORMAT. TABLE: of a format that has several ("csv": "calls" ...), else NULL.
 * A PATH that ends in .gz is compressed. -EEXIST: PATH exists, and REPLACE is 0. The file gets its name
 * when it is complete; on failure there is none. ERROR may be NULL. */
int dagtap_export(const struct dagtap_trace *trace, const char *format, const char *table,
		  const char *path, int replace, struct dagtap_error *error);

#ifdef __cplusplus
}
#endif

#endif
