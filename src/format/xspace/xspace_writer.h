/* State and functions that the files of the XSpace writer share. Each file writes planes of its
 * own; docs/format/xspace.md describes the format.
 *
 * Threading: a struct xspace_writer belongs to the thread that exports. */
#ifndef DAGTAP_FORMAT_XSPACE_WRITER_H
#define DAGTAP_FORMAT_XSPACE_WRITER_H

#include "format/format.h"
#include "format/timeline/timeline.h"
#include "format/xspace/xspace_batch.h"
#include "format/xspace/xspace_chains.h"
#include "format/xspace/xspace_out.h"
#include "format/xspace/xspace_plane.h"
#include "format/xspace/xspace_with.h"

/* The words by which a stream's line names its kinds of work. X(NAME, text) */
#define XSPACE_WORDS(X)                                                                            \
	X(COMPUTE, "Compute")                                                                      \
	X(MEMCPY_H2D, "MemcpyH2D")                                                                 \
	X(MEMCPY_D2H, "MemcpyD2H")                                                                 \
	X(MEMCPY_D2D, "MemcpyD2D")                                                                 \
	X(MEMCPY_P2P, "MemcpyP2P")                                                                 \
	X(MEMCPY_OTHER, "MemcpyOther")                                                             \
	X(MEMSET, "Memset")

enum xspace_word {
#define X(name, text) XSPACE_WORD_##name,
	XSPACE_WORDS(X)
#undef X
		XSPACE_WORD_COUNT
};

/* The word for a work kind. */
enum xspace_word xspace_word_of(const struct trace_work *work);

/* The text of WORD as it stands in names of events (XSPACE_WORDS). Static. */
const char *xspace_word_text(enum xspace_word word);

/* The rows that one file of several takes: calls and scopes that begin, activities whose call
 * begins, and activities without a call that were submitted, at FROM_NS or later and before
 * TO_NS. */
struct xspace_window {
	int64_t from_ns;
	int64_t to_ns;
	uint32_t number; /* of this file, from 1 to COUNT */
	uint32_t count;
};

/* Counts of what the lines do not show, or show changed. */
struct xspace_left_out {
	uint64_t untimed[RECORD_UNTIMED_COUNT];
	uint64_t activities_out_of_range; /* an XSpace cannot hold their time; not written */
	uint64_t calls_out_of_range;	  /* calls and scopes, the same */
	uint64_t backwards;		  /* end before begin; written without length */
};

struct xspace_writer {
	const struct trace *trace;
	const struct format_options *options; /* or NULL */
	/* The options, if it is written for a plugin of XLA's profiler (format_xspace.compats). */
	const struct format_options *pjrt;
	struct xspace_with *with; /* a profile to join; or NULL; borrowed */
	struct xspace_window window;
	/* The words of a stream's list are bits by enum xspace_word. Of the lists of threads, that
	 * of the first process without a thread holds the rows of all processes. */
	struct timeline timeline;
	struct xspace_chains chains;
	int64_t start_ns;  /* start of the first process */
	int64_t origin_ns; /* host time that is offset 0 in the file */
	struct xspace_left_out left_out;
	/* by call: GPU of its first activity; TRACE_NONE = no activity; owned */
	uint32_t *gpu_of_call;
	struct xspace_batches batches;
	struct xspace_out out;
};

/* Fills all members except `window` and `out`, which the caller has set: numbers, chains, and the
 * rows of the window distributed to lists. TRACE must outlive WRITER. Returns 0 or -ENOMEM; then
 * nothing is left to release. */
int xspace_deal(struct xspace_writer *writer, const struct trace *trace);

/* Frees what xspace_deal has allocated. Call it once, after it has succeeded. */
void xspace_deal_release(struct xspace_writer *writer);

/* The id of a scope in the file: its own, or its index + 1 if the ids of processes overlap. */
static inline uint64_t xspace_scope_id(const struct xspace_writer *writer, uint32_t scope)
{
	return writer->chains.ids[scope];
}

/* The wall clock at the origin of the lines, ns since 1970; 0 if it is not known. */
static inline uint64_t xspace_origin_realtime_ns(const struct xspace_writer *writer)
{
	const struct trace_process *first = writer->trace->processes;

	if (writer->trace->processes_count == 0 || first->start_realtime_ns == 0)
		return 0;
	return first->start_realtime_ns + (uint64_t)(writer->origin_ns - first->start_ns);
}

/* Whether the trace was read from another tool's XSpace. Then all that the file states about a row
 * is in the row's attributes and is written back unchanged. The writer derives nothing and writes
 * no plane about a recording. */
static inline bool xspace_is_foreign(const struct trace *trace)
{
	return trace->has_xspace_stats;
}

/* What is written about a row of such a trace. */
struct xspace_foreign_row {
	uint64_t correlation_id; /* 0 = none */
	uint32_t scope;		 /* index into trace.scopes, or TRACE_NONE */
	uint32_t set;		 /* index into trace.attribute_sets */
};

/* Replaces the contents of STATS by those of ROW. */
void xspace_put_foreign(const struct xspace_writer *writer, const struct xspace_foreign_row *row,
			struct xspace_stats *stats);

/* Where the lines of a plane begin (xspace_plane.lines_ns): XLA itself subtracts the profile's
 * start from the lines of a plugin. */
static inline uint64_t xspace_lines_ns(const struct xspace_writer *writer)
{
	return writer->pjrt ? xspace_origin_realtime_ns(writer) : 0;
}

/* A host time as an offset in the file, in picoseconds. */
static inline uint64_t xspace_offset_ps(const struct xspace_writer *writer, int64_t ns)
{
	return (uint64_t)(ns - writer->origin_ns) * 1000;
}

/* Writes the whole trace in files of at most BYTES_MAX bytes (XSPACE_BYTES_MAX; tests use less).
 * The first file is OUT; further ones are opened by options->open_part. Returns 0 or negative
 * errno; -EFBIG: one file is not enough and there is no open_part, or no division into parts
 * helps. If one file is not enough, parts are tried out without output first, so the cost is a
 * multiple of one export. */
int xspace_write(const struct trace *trace, FILE *out, const struct format_options *options,
		 uint64_t bytes_max);

/* The following functions write one plane each and return 0 or negative errno.
 *
 * xspace_put_device writes the activities of GPU number GPU; gpus.count stands for no GPU. */
int xspace_put_device(struct xspace_writer *writer, uint32_t gpu);

/* Writes the threads with their calls and scopes. */
int xspace_put_host(struct xspace_writer *writer);

/* Writes the parents of scopes; no plane if no scope has one. */
int xspace_put_scope_tree(struct xspace_writer *writer);

/* Writes the wall clock of the recording's start and stop; no plane if it is not known. */
int xspace_put_environment(struct xspace_writer *writer);

/* Writes the processes and the ledger; no plane for another tool's trace. */
int xspace_put_recording(struct xspace_writer *writer);

/* Writes errors, warnings and host names, which belong to no plane. Errors are kept in
 * out.error. */
void xspace_put_warnings(struct xspace_writer *writer);

/* Writes errors and warnings as events of a line of PLANE, because XLA takes nothing but planes
 * from a plugin. */
void xspace_put_message_line(struct xspace_writer *writer, struct xspace_plane *plane);

/* Writes the text that describes a kernel in the form that XProf parses, cut off at SIZE bytes.
 * OCCUPANCY, a part of 1, is NULL if it is not known. */
void xspace_kernel_details(const struct trace_work *work, const double *occupancy, char *text,
			   size_t size);

/* The same for a copy. */
void xspace_copy_details(const struct xspace_writer *writer, const struct trace_work *work,
			 char *text, size_t size);

/* The same for a memset. */
void xspace_memset_details(const struct trace_work *work, char *text, size_t size);

#endif
