/* Writing a trace (dagtap/trace.h) in the format of another tool. The same trace gives the same
 * bytes, but for the number that libotf2 gives each archive.
 *
 * Threading: as dagtap/trace.h; several threads may export one trace to different files. Cost: a
 * few bytes of memory per activity; everything else is streamed to the file. */
#ifndef DAGTAP_EXPORT_H
#define DAGTAP_EXPORT_H

#include <stddef.h>
#include <stdint.h>

#include <dagtap/error.h>
#include <dagtap/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A row of the table of formats. The texts are static. */
struct dagtap_export_format {
	const char *name;      /* what dagtap_export takes as FORMAT, for example "xspace" */
	const char *extension; /* with the dot, for example ".xplane.pb" */
	const char *help;      /* one line for a help text */
};

/* Gives the format number INDEX, from 0 on. Returns 0, or -ERANGE if there is no such format; then
 * *RET_FORMAT is untouched. */
int dagtap_export_get_format(size_t index, struct dagtap_export_format *ret_format);

/* Writes TRACE to PATH in the format that is named FORMAT. TABLE selects a table of a format that
 * has several ("csv": "calls" ...); NULL selects its first. A PATH that ends in .gz is compressed.
 * If PATH exists and REPLACE is 0, fails with -EEXIST. -EINVAL: there is no such format or table.
 * The output of "otf2" is a folder: REPLACE then replaces one that the format wrote, and fails with
 * -EINVAL for anything else. -EBUSY: PATH is what TRACE was read from, under whatever name, or is
 * inside it, or a folder around it; that is never replaced.
 *
 * The output has a temporary name until it is complete; a failure while writing leaves no file
 * behind. A trace that is too large for one file of its format is continued in numbered files
 * beside PATH (run.xplane.pb, run.2.xplane.pb). They get their final names one after the other at
 * the end; if that fails, some of them may already be in place. Returns 0 or a negative errno with
 * a line in ERROR, which may be NULL. */
int dagtap_export(const struct dagtap_trace *trace, const char *format, const char *table,
		  const char *path, int replace, struct dagtap_error *error);

/* The number by which a reader knows a thread. */
struct dagtap_export_thread {
	uint32_t tid;
	uint64_t id;
};

/* What dagtap_export_to writes; all zero: the defaults. */
struct dagtap_export_options {
	const char *table; /* as TABLE of dagtap_export */
	/* the reader to write for, of a format that has variants: "hta" (kineto), "pjrt" (xspace),
	 * as `dagtap export --help` lists them; NULL: any reader */
	const char *compat;
	/* "pjrt": the ids of threads' lines; threads that are not among them have their tid */
	const struct dagtap_export_thread *threads;
	size_t threads_count;
};

/* Writes TRACE to the open file FD, from its present offset on, in the format that is named FORMAT,
 * and leaves FD open. OPTIONS may be NULL. Everything goes into this one file: a trace that is too
 * large for one file of its format fails with -EFBIG. If FD cannot seek, as a pipe, XSpace is made
 * in a temporary file first. After a failure FD may hold a part of the output. Returns 0 or a
 * negative errno, as dagtap_export. */
#define dagtap_export_to(trace, format, options, fd, error)                                        \
	dagtap_export_to_sized(trace, format, options, sizeof(struct dagtap_export_options), fd,   \
			       error)

/* What the macro calls. SIZE is the size of *OPTIONS in the caller's version of this header. */
int dagtap_export_to_sized(const struct dagtap_trace *trace, const char *format,
			   const struct dagtap_export_options *options, size_t size, int fd,
			   struct dagtap_error *error);

#ifdef __cplusplus
}
#endif

#endif
