/* The activities of a GPU's plane as events: what they share is encoded once, and rows of a line
 * are gathered and encoded in batches (xspace_batch.h).
 *
 * Threading: a struct xspace_activities belongs to one thread, that of the export. */
#ifndef DAGTAP_FORMAT_XSPACE_ACTIVITIES_H
#define DAGTAP_FORMAT_XSPACE_ACTIVITIES_H

#include <stdbool.h>
#include <stdint.h>

#include "format/xspace/xspace_batch.h"
#include "format/xspace/xspace_pieces.h"
#include "format/xspace/xspace_writer.h"

struct xspace_work_entry {
	uint32_t event; /* id of its name's metadata; 0 = not encoded yet */
	bool is_kernel;
	const struct xspace_piece *stats;
};

struct xspace_node_entry {
	const struct xspace_piece *stats; /* NULL = not encoded yet */
	uint32_t chain; /* index into chains; TRACE_NONE: that of the activity's scope */
};

/* What an activity's stats depend on besides its work kind, node and scopes. */
struct xspace_extra_key {
	uint32_t launch;
	uint32_t operation; /* index into writer->with->operations; 0: none */
	uint8_t confidence;
	bool is_kernel, has_node, is_orphan;
};

/* The state of one plane. */
struct xspace_activities {
	struct xspace_writer *writer;
	const struct trace *trace;
	const struct trace_agent *agent; /* the plane's GPU; NULL: none */
	struct xspace_plane *plane;	 /* borrowed */
	struct xspace_stats stats;	 /* buffer for stats that are being encoded */
	struct xspace_pieces pieces;
	/* by index into trace.works, trace.nodes and writer->chains.rows; owned */
	struct xspace_work_entry *works;
	struct xspace_node_entry *nodes;
	const struct xspace_piece **chains; /* NULL = not encoded yet */
	struct xspace_extra_key extra_key;
	const struct xspace_piece *extra; /* of extra_key, in the batch that is filled; or NULL */
	struct timeline_stream *stream;	  /* whose line is written */
	int error;
};

/* Makes empty tables for a plane of the GPU AGENT, or NULL. Errors are kept in `error`.
 * xspace_activities_release frees them. */
void xspace_activities_init(struct xspace_activities *activities, struct xspace_writer *writer,
			    struct xspace_plane *plane, const struct trace_agent *agent);

/* Frees the memory. */
void xspace_activities_release(struct xspace_activities *activities);

/* Writes the activities of the current track of STREAM to the current line of the plane. */
void xspace_activities_put(struct xspace_activities *activities, struct timeline_stream *stream);

#endif
