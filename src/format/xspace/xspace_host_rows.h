/* The calls and scopes of the host's plane as events: what they share is encoded once, and rows of
 * a line are gathered and encoded in batches (xspace_batch.h).
 *
 * Threading: a struct xspace_host_rows belongs to one thread, that of the export. */
#ifndef DAGTAP_FORMAT_XSPACE_HOST_ROWS_H
#define DAGTAP_FORMAT_XSPACE_HOST_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/xspace/xspace_batch.h"
#include "format/xspace/xspace_pieces.h"
#include "format/xspace/xspace_writer.h"

struct xspace_api_entry {
	uint32_t event; /* id of its name's metadata; 0 = not encoded yet */
	bool allocates;
};

/* Name and attributes of the innermost scope of a chain. */
struct xspace_scope_entry {
	uint32_t event; /* as above */
	const struct xspace_piece *stats;
};

/* The state of the plane. */
struct xspace_host_rows {
	struct xspace_writer *writer;
	const struct trace *trace;
	struct xspace_plane *plane; /* borrowed */
	struct xspace_stats stats;  /* buffer for stats that are being encoded */
	struct xspace_pieces pieces;
	const struct xspace_piece **gpus; /* stat device_id, by number of the GPU; owned */
	/* by index into trace.apis and writer->chains.rows; owned */
	struct xspace_api_entry *apis;
	struct xspace_scope_entry *chains;
	struct tracks *tracks; /* whose line is written */
	int error;
};

/* NAME, or OTHER if it is empty. */
static inline const char *xspace_name_or(const char *name, const char *other)
{
	return name[0] == '\0' ? other : name;
}

/* Makes empty tables. Errors are kept in `error`. xspace_host_rows_release frees them. */
void xspace_host_rows_init(struct xspace_host_rows *rows, struct xspace_writer *writer,
			   struct xspace_plane *plane);

/* Frees the memory. */
void xspace_host_rows_release(struct xspace_host_rows *rows);

/* Writes the rows of the current track of TRACKS to the current line of the plane. */
void xspace_host_rows_put(struct xspace_host_rows *rows, struct tracks *tracks);

/* Writes the row that TRACKS has taken, for a caller that writes other events in between. */
void xspace_host_rows_put_one(struct xspace_host_rows *rows, const struct tracks *tracks);

#endif
