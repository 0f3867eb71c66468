/* The parts of the XSpace writer: each writes planes of its own. docs/format/xspace.md says what
 * stands where. */
#ifndef DAGTAP_FORMAT_XSPACE_WRITER_H
#define DAGTAP_FORMAT_XSPACE_WRITER_H

#include "format/format.h"
#include "format/gpus.h"
#include "format/rows.h"
#include "format/xspace/xspace_chains.h"
#include "format/xspace/xspace_out.h"
#include "format/xspace/xspace_plane.h"

/* Kinds of work, as a stream's line names them. X(NAME, text) */
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

enum xspace_word xspace_word_of(const struct trace_op *op);
const char *xspace_word_text(enum xspace_word word);

/* Which rows a file takes, where one cannot take all: those that were called, or submitted without
 * a call, from FROM on and before TO. */
struct xspace_window {
	int64_t from_ns;
	int64_t to_ns;
	uint32_t number; /* of COUNT, from 1 */
	uint32_t count;
};

/* What is not in the lines, by why. */
struct xspace_left_out {
	uint64_t untimed[RECORD_UNTIMED_COUNT];
	uint64_t activities_out_of_range; /* no XSpace can hold their time */
	uint64_t calls_out_of_range;
	uint64_t backwards; /* written, without length */
};

/* Of one process. */
struct xspace_ids {
	uint64_t cid_min, cid_max; /* of what it has; min > max: nothing */
	uint64_t correlation_base; /* added to its cids, so that no two processes share one */
};

struct xspace_writer {
	const struct trace *trace;
	struct xspace_window window;
	struct gpus gpus;
	struct xspace_chains chains;
	int64_t start_ns;  /* of the first process */
	int64_t origin_ns; /* what offsets count from */
	struct xspace_ids *ids;

	struct xspace_left_out left_out;
	struct rows activities; /* lists by GPU, then stream: xspace_list_of_stream */
	size_t streams_count;	/* lists of one GPU */
	uint32_t *streams_end;	/* by process: behind its last stream */
	uint32_t *gpu_of_call;	/* the first activity's; TRACE_NONE: it has none */
	struct rows calls;	/* lists by thread; the last for none */
	struct rows scopes;	/* the same, then the same again for ranges */
	struct xspace_out out;
};

/* Fills everything but `window` and `out`. 0 or -ENOMEM. */
int xspace_deal(struct xspace_writer *writer, const struct trace *trace);
void xspace_deal_release(struct xspace_writer *writer);

/* The list, among those of a GPU, of work without a stream of PROCESS: behind its streams. */
static inline size_t xspace_streamless(const struct xspace_writer *writer, uint32_t process)
{
	return (size_t)writer->streams_end[process] + process;
}

static inline size_t xspace_list_of_stream(uint32_t stream, uint32_t process)
{
	return (size_t)stream + process;
}

rows_time_of xspace_activity_time;
rows_time_of xspace_call_time;
rows_time_of xspace_scope_time;

/* What an event of THEIRS is called in the file. */
static inline uint64_t xspace_correlation_id(const struct xspace_writer *writer, uint32_t process,
					     uint64_t cid)
{
	return cid + writer->ids[process].correlation_base;
}

/* Scopes keep their ids, unless those of two processes are the same: then they are numbered. */
static inline uint64_t xspace_scope_id(const struct xspace_writer *writer, uint32_t scope)
{
	return writer->chains.of_scope[scope].id;
}

/* Whether the trace was read from another tool's XSpace. Then all that it said of a row is in the row's
 * attributes, and is written as it was: nothing is derived, and nothing said of a recording. */
static inline bool xspace_is_foreign(const struct trace *trace)
{
	return trace->has_xspace_stats;
}

/* All that is said of such a row: correlation id, scope, and the set. */
struct xspace_foreign_row {
	uint64_t correlation_id; /* or 0 */
	uint32_t scope;
	uint32_t set;
};

void xspace_put_foreign(const struct xspace_writer *writer, const struct xspace_foreign_row *row,
			struct xspace_stats *stats);

static inline uint64_t xspace_offset_ps(const struct xspace_writer *writer, int64_t ns)
{
	return (uint64_t)(ns - writer->origin_ns) * 1000;
}

/* The whole of it, in files of at most BYTES_MAX: what XSPACE_BYTES_MAX is for, but for tests. */
int xspace_write(const struct trace *trace, FILE *out, const struct format_options *options,
		 uint64_t bytes_max);

/* Each returns 0 or negative errno. */
int xspace_put_device(struct xspace_writer *writer, uint32_t gpu);
int xspace_put_host(struct xspace_writer *writer);
int xspace_put_scope_tree(struct xspace_writer *writer);
int xspace_put_environment(struct xspace_writer *writer);
int xspace_put_recording(struct xspace_writer *writer);
void xspace_put_warnings(struct xspace_writer *writer);

/* Texts of details, as XProf takes them apart. */
void xspace_kernel_details(const struct trace_op *op, char *text, size_t size);
void xspace_copy_details(const struct xspace_writer *writer, const struct trace_op *op, char *text,
			 size_t size);
void xspace_memset_details(const struct trace_op *op, char *text, size_t size);

#endif
