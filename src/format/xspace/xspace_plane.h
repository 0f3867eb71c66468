/* One plane of an XSpace while it is written: its names and numbers, lists of stats, lines.
 *
 * Metadata of a plane stands behind its lines, so that one pass will do; ids are given in the order
 * in which the lines use them. Errors stick and are given by xspace_plane_end. */
#ifndef DAGTAP_FORMAT_XSPACE_PLANE_H
#define DAGTAP_FORMAT_XSPACE_PLANE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/xspace/xspace.h"
#include "format/xspace/xspace_out.h"
#include "trace/model.h"
#include "trace/strtab.h"
#include "wire/proto.h"

struct xspace_plane {
	struct xspace_out *out;
	uint64_t mark;
	struct strtab events; /* number of a name = id of its metadata */
	struct strtab stats;  /* the same; names of XSPACE_STATS have the first numbers */
	bool used[XSPACE_STAT_END];
	uint32_t *string_ids; /* of the trace's strings as stats, 0 = not asked for yet; or NULL */
	struct proto scratch;
};

/* 0 or -ENOMEM. */
int xspace_plane_begin(struct xspace_plane *plane, struct xspace_out *out, uint64_t id,
		       const char *name);

/* 0 or negative errno; releases everything. */
int xspace_plane_end(struct xspace_plane *plane);

/* Ids of metadata. */
uint32_t xspace_plane_event(struct xspace_plane *plane, const char *name);
uint32_t xspace_plane_stat(struct xspace_plane *plane, const char *name);

/* Says that stats of this kind will be put without the functions below. */
void xspace_plane_use(struct xspace_plane *plane, enum xspace_stat stat);

struct xspace_line {
	uint64_t id;
	const char *name;
	uint64_t mark;
};

void xspace_line_begin(struct xspace_plane *plane, struct xspace_line *line);
void xspace_line_end(struct xspace_plane *plane, const struct xspace_line *line);

/* A list of stats, each as one field of the message that they are stats of. */
struct xspace_stats {
	struct xspace_plane *plane;
	uint32_t field;
	struct proto bytes;
};

void xspace_put_u64(struct xspace_stats *stats, uint32_t stat, uint64_t value);
void xspace_put_i64(struct xspace_stats *stats, uint32_t stat, int64_t value);
void xspace_put_double(struct xspace_stats *stats, uint32_t stat, double value);
/* Text that is likely to come again in this plane, and text that is not. */
void xspace_put_ref(struct xspace_stats *stats, uint32_t stat, const char *text);
void xspace_put_text(struct xspace_stats *stats, uint32_t stat, const char *text);
/* The same for a string of the trace, which is then known by its number. */
void xspace_put_string(struct xspace_stats *stats, uint32_t stat, const struct trace *trace,
		       trace_string string);
void xspace_put_attribute(struct xspace_stats *stats, const struct trace *trace,
			  const struct trace_scope_attribute *attribute);

/* An event that is not one of millions. */
struct xspace_span {
	uint64_t offset_ps;
	uint64_t duration_ps;
};

void xspace_event_put(struct xspace_plane *plane, const char *name, struct xspace_span span,
		      const struct xspace_stats *stats);

#endif
