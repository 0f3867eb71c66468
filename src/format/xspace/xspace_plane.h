/* Writes one plane of an XSpace: its lines, lists of stats, and the metadata that names events and
 * stats.
 *
 * A plane's metadata stands behind its lines, so one pass is enough; ids are given in the order of
 * first use. Errors stick and are returned by xspace_plane_end. Threading: one thread at a time. */
#ifndef DAGTAP_FORMAT_XSPACE_PLANE_H
#define DAGTAP_FORMAT_XSPACE_PLANE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strtab.h"
#include "format/xspace/xspace.h"
#include "format/xspace/xspace_out.h"
#include "trace/trace_model.h"
#include "wire/proto.h"

struct xspace_plane {
	struct xspace_out *out; /* borrowed */
	uint64_t mark;		/* of the plane's message in OUT */
	uint64_t lines_ns;	/* where lines begin, ns since 1970; 0 = at the profile's start */
	struct strtab events;	/* names of events; a name's number is the id of its metadata */
	struct strtab stats;	/* names of stats, the same; the names of XSPACE_STATS come first */
	bool used[XSPACE_STAT_END]; /* by stat: its metadata must be written */
	/* by trace_string: its id in `stats`, 0 = not used yet; NULL until needed */
	uint32_t *string_ids;
	struct proto scratch; /* for small messages; valid until the next call */
};

/* Begins a plane with an ID (0 = none) and NAME. Returns 0 or -ENOMEM; then nothing is left to
 * release and nothing was written. */
int xspace_plane_begin(struct xspace_plane *plane, struct xspace_out *out, uint64_t id,
		       const char *name);

/* Writes the metadata, ends the plane and releases its memory. Returns 0, or the first error of
 * the plane or its output as negative errno. */
int xspace_plane_end(struct xspace_plane *plane);

/* The id of an event's name, which gets metadata when it is new; 0 if there is no memory. */
uint32_t xspace_plane_event(struct xspace_plane *plane, const char *name);

/* The same for a stat's name; marks it as used. */
uint32_t xspace_plane_stat(struct xspace_plane *plane, const char *name);

/* Marks a stat as used. Needed if the caller writes it without the functions below. */
void xspace_plane_use(struct xspace_plane *plane, enum xspace_stat stat);

/* A line of a plane. The caller sets id (0 = none) and name (borrowed until xspace_line_begin). */
struct xspace_line {
	uint64_t id;
	const char *name;
	uint64_t mark;
};

/* Begins a line; sets line->mark. Events are written to the plane's output until
 * xspace_line_end. */
void xspace_line_begin(struct xspace_plane *plane, struct xspace_line *line);

/* Ends the line. */
void xspace_line_end(struct xspace_plane *plane, const struct xspace_line *line);

/* A list of encoded stats. Each stat is one field, number FIELD, of the message to which the stats
 * belong. The caller empties BYTES with proto_reset and releases it. */
struct xspace_stats {
	struct xspace_plane *plane;
	uint32_t field;
	struct proto bytes;
};

/* Appends a stat with a uint64 value. STAT is an enum xspace_stat or an id from xspace_plane_stat;
 * the same for the functions below. */
void xspace_put_u64(struct xspace_stats *stats, uint32_t stat, uint64_t value);

/* Appends a stat with an int64 value. */
void xspace_put_i64(struct xspace_stats *stats, uint32_t stat, int64_t value);

/* Appends a stat with a double value. */
void xspace_put_double(struct xspace_stats *stats, uint32_t stat, double value);

/* Appends a text that is likely to come again in this plane: the text is stored once, as a stat's
 * name. An empty text is written as by xspace_put_text. */
void xspace_put_ref(struct xspace_stats *stats, uint32_t stat, const char *text);

/* Appends a text that is not likely to come again in this plane. */
void xspace_put_text(struct xspace_stats *stats, uint32_t stat, const char *text);

/* Like xspace_put_ref for a string of the trace, found by its number instead of its text. */
void xspace_put_string(struct xspace_stats *stats, uint32_t stat, const struct trace *trace,
		       trace_string string);

/* Appends an attribute; its key is the stat's name. */
void xspace_put_attribute(struct xspace_stats *stats, const struct trace *trace,
			  const struct trace_scope_attribute *attribute);

/* The time of an event that is not one of millions; from the line's origin. */
struct xspace_span {
	uint64_t offset_ps;
	uint64_t duration_ps;
};

/* Writes an event with its stats to the current line. Slower than xspace_event.h. */
void xspace_event_put(struct xspace_plane *plane, const char *name, struct xspace_span span,
		      const struct xspace_stats *stats);

#endif
