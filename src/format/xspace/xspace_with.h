/* A profile of the same program that XLA's profiler wrote (option --with of `dagtap export`): its
 * host events, HLO protos and other planes are written beside the recording.
 *
 * The events of the profile's /host:CPU are read and kept by line; all other planes are copied. The
 * profile's times are brought to the origin of the file by its profile_start_time, a wall-clock
 * time.
 *
 * Threading: a struct xspace_with belongs to the thread that exports. */
#ifndef DAGTAP_FORMAT_XSPACE_WITH_H
#define DAGTAP_FORMAT_XSPACE_WITH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error_text.h"
#include "base/strtab.h"
#include "format/format.h"
#include "format/read.h"
#include "format/xspace/xspace_plane.h"

struct xspace_writer;

/* Metadata of an event or a stat. */
struct with_metadata {
	uint64_t id;
	uint32_t name;	  /* index into texts.strings */
	uint32_t written; /* its id in the plane that is being written; 0 = none yet */
	const uint8_t *bytes;
	size_t size;
};

struct with_event {
	uint64_t begin_ps; /* from the profile's start */
	uint64_t duration_ps;
	uint32_t metadata; /* index into events_metadata */
	const uint8_t *bytes;
	size_t size;
};

/* A line of /host:CPU. Its events are sorted: by begin, the longer first. */
struct with_line {
	uint64_t id;
	uint32_t name; /* index into texts.strings */
	uint32_t
		thread; /* index into trace.threads of the thread whose line it is; or TRACE_NONE */
	uint32_t first; /* of its events */
	uint32_t count;
};

/* What XLA was doing when it submitted work: an operation of a module. Row 0: not known. */
struct with_operation {
	uint32_t name, module; /* indices into texts.strings */
	int64_t program;       /* -1: not known */
};

struct with_plane {
	uint32_t name; /* index into texts.strings */
	const uint8_t *bytes;
	size_t size;
};

struct xspace_with {
	const struct read_file *file; /* borrowed */
	uint64_t start_ns;	      /* wall clock at the profile's start */
	uint64_t stop_ns;
	uint64_t shift_ps; /* from the file's origin to the profile's start */
	/* owned, as all arrays here */
	struct strtab texts;
	struct with_plane *planes;
	uint32_t planes_count;
	struct with_metadata *event_metadata, *stat_metadata; /* of /host:CPU; by id */
	uint32_t event_metadata_count, stat_metadata_count;
	struct with_metadata *programs; /* of /host:metadata: "jit_step(4)" */
	uint32_t programs_count;
	struct with_line *lines;
	uint32_t lines_count;
	struct with_event *events;
	uint32_t events_count;
	struct with_operation *operations;
	uint32_t operations_count;
	uint32_t *operation_of_call; /* by call: index into operations */
};

/* Reads FILE, which must outlive *RET_WITH. The caller closes it with xspace_with_close. Returns 0;
 * -ENOMEM; or -EBADMSG if FILE is not a well-formed XSpace or has no profile_start_time. A failure
 * is described in ERROR. */
int xspace_with_open(const struct read_file *file, struct xspace_with **ret_with,
		     struct dagtap_error *error);
/* WITH may be NULL. */
void xspace_with_close(struct xspace_with *with);

/* Checks that the profile can be joined with TRACE: a recording whose wall-clock times are known
 * and which lies in the profile's time in part. Returns 0, or -EINVAL with the reason in ERROR. */
int xspace_with_fits(const struct xspace_with *with, const struct trace *trace,
		     struct dagtap_error *error);

/* Joins the profile with the rows of WRITER, whose rows are dealt: moves the origin back to the
 * profile's start if that is earlier, finds the thread of each line, and the operation of each call
 * of these threads. Returns 0 or -ENOMEM. */
int xspace_with_join(struct xspace_with *with, struct xspace_writer *writer);

/* The text of an event's or line's name. */
static inline const char *xspace_with_text(const struct xspace_with *with, uint32_t text)
{
	return with->texts.strings[text];
}

/* ---- writing ---- */

/* The line of THREAD, an index into trace.threads; NULL if none is known. */
const struct with_line *xspace_with_find_line(const struct xspace_with *with, uint32_t thread);

/* Writes the events of LINE from *NEXT on, an index into with->events, that begin before BEGIN_PS,
 * or at it and are at least as long as DURATION_PS; moves *NEXT behind them. Both from the file's
 * origin. Errors stick in the plane's output. */
void xspace_with_put_before(struct xspace_with *with, struct xspace_plane *plane,
			    const struct with_line *line, uint32_t *next, uint64_t begin_ps,
			    uint64_t duration_ps);

/* Writes the lines that belong to no thread of the trace. */
void xspace_with_put_lines(struct xspace_with *with, struct xspace_plane *plane);

/* Writes the profile's other planes, but those of GPUs and those that the writer makes itself, and
 * its errors and warnings. */
void xspace_with_put_planes(const struct xspace_with *with, struct xspace_out *out);

/* The index of the operation that the profile knows of the activity's call, if no scope says it; 0:
 * none. WITH may be NULL. */
static inline uint32_t xspace_with_operation_of(const struct xspace_with *with,
						const struct trace_activity *activity)
{
	return with && activity->call != TRACE_NONE && activity->scope == TRACE_NONE
		       ? with->operation_of_call[activity->call]
		       : 0;
}

/* Appends the stats that XLA's tracer of GPUs gives an event of that operation. */
void xspace_with_put_operation(const struct xspace_with *with, uint32_t operation,
			       struct xspace_stats *stats);

#endif
