/* Statistics of activities: durations by key, in sketches (stats/sketch.h).
 *
 * A key is a kernel (by name), a kind of copy (by direction, or "memset"), a collective operation
 * (by the function of RCCL, or the kernel), or a node of a graph. Each activity counts once among
 * kernels and copies, and may count again as a node and as a collective. Each recorded process has
 * its own rows. A row has the durations of the interval that is open and those of all intervals
 * before it.
 *
 *	stats_init(&stats);
 *	stats_add_process(&stats, &info, &process);
 *	stats_take(&stats, process, window, outliers, context);
 *	...write the interval (stats/stats_file.h)...
 *	stats_end_interval(&stats, process);
 *	stats_release(&stats);
 *
 * Memory: for each process and key two sketches, and the keys' names. Threading: one thread at a
 * time. Cost: for each activity a logarithm and two additions for each of its keys. */
#ifndef DAGTAP_STATS_STATS_H
#define DAGTAP_STATS_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/numbers.h"
#include "base/strtab.h"
#include "stats/sketch.h"
#include "trace/trace_model.h"

/* X(name, text): the kinds of keys, with their texts in files. */
#define STAT_KINDS(X)                                                                              \
	X(KERNEL, "kernel")                                                                        \
	X(COPY, "copy")                                                                            \
	X(COLLECTIVE, "collective")                                                                \
	X(NODE, "node")

enum stat_kind {
#define X(name, text) STAT_##name,
	STAT_KINDS(X)
#undef X
		STAT_KIND_COUNT
};

/* The text of KIND in files and metrics (STAT_KINDS). Static. */
const char *stat_kind_text(enum stat_kind kind);

struct stat_key {
	enum stat_kind kind;
	uint32_t name; /* in stats.names */
	/* Of a node: the id of its graph, and its index there; else 0. */
	uint64_t graph;
	uint32_t node;
};

struct stat_row {
	struct sketch interval;		 /* durations in ns, of the open interval */
	struct sketch total;		 /* of the intervals before it */
	uint64_t untimed, untimed_total; /* activities without a duration */
	double limit_ns;		 /* an outlier is longer; 0: too few are known */
	uint64_t limit_count;		 /* number of durations when the limit was found */
};

/* X(name, help): what a process launched on CUDA beside what CUPTI delivered, since its recording
 * began (live/cuda_launches.h says what is compared). */
#define STAT_DELIVERIES(X)                                                                         \
	X(graph_launches, "Launches of graphs that are compared.")                                 \
	X(kernel_launches, "Calls that launched a kernel alone.")                                  \
	X(launched_kernels, "Kernels that these launches must cause.")                             \
	X(launched_copies, "Copies that these launches must cause.")                               \
	X(launched_memsets, "Memsets that these launches must cause.")                             \
	X(delivered_kernels, "Of these, kernels of which a record came.")                          \
	X(delivered_copies, "Of these, copies of which a record came.")                            \
	X(delivered_memsets, "Of these, memsets of which a record came.")                          \
	X(not_read, "Of those that did not come, as many as records were lost or dropped.")        \
	X(pending, "Of those that did not come, those that nothing shows to have ended.")          \
	X(missing, "Of those that did not come, those for which there is no reason.")              \
	X(uncompared_launches, "Launches of graphs whose activities are not known in advance.")    \
	X(uncompared_activities, "Activities that came and are not compared with a launch.")

struct stat_deliveries {
	bool is_known; /* the process uses CUDA */
#define X(name, help) uint64_t name;
	STAT_DELIVERIES(X)
#undef X
};

struct stat_process {
	uint32_t pid;
	uint32_t session;
	uint32_t exe; /* in stats.names */
	uint64_t start_realtime_ns;
	struct stat_row *rows; /* by key; keys beyond have no durations here */
	uint32_t rows_count;
	uint64_t outliers;
	/* Records of all types, as live/live.h counts them. */
	uint64_t lost;	    /* that the ring dropped before they were read */
	uint64_t dropped;   /* that the process could not write, or CUPTI did not deliver */
	uint64_t no_writer; /* of these, records of threads for which there was no writer */
	uint64_t cut_off;   /* calls that were taken without all their records */
	uint64_t left_out;  /* records of graphs beyond the limit */
	bool is_over;	    /* nothing is added any more */
	struct stat_deliveries deliveries;
	struct stat_deliveries deliveries_before; /* at the end of the last interval */
};

struct stats {
	struct strtab names;
	struct numbers nodes;	    /* (graph, node) */
	struct numbers key_numbers; /* (kind and name, number among nodes) of keys */
	struct stat_key *keys;
	uint32_t keys_count;
	struct stat_process *processes;
	uint32_t processes_count;
	/* An outlier is longer than this multiple of its key's 99th percentile; 0: none is one. */
	double outlier_factor;
};

/* The limit of a key is first found from so many durations, and again each time that their number
 * has doubled. */
#define STAT_OUTLIER_LEAST 128

struct stat_outlier {
	uint32_t process;
	uint32_t key;
	uint64_t duration_ns;
	double limit_ns;
	int64_t start_ns; /* host ns */
};

typedef void stat_outlier_take(void *context, const struct stat_outlier *outlier);

/* Adds MORE to SUM; what is known of one is known of both. */
void stats_add_deliveries(struct stat_deliveries *sum, const struct stat_deliveries *more);

/* Makes STATS empty. Returns 0 or -ENOMEM. */
int stats_init(struct stats *stats);

/* Frees the memory. STATS may be zero. */
void stats_release(struct stats *stats);

/* Adds a process. Returns 0 or -ENOMEM. */
int stats_add_process(struct stats *stats, uint32_t pid, uint32_t session, const char *exe,
		      uint64_t start_realtime_ns, uint32_t *ret_process);

/* The number of the key with this kind, name, graph and node, which is added if it is new.
 * UINT32_MAX: out of memory. */
uint32_t stats_get_key(struct stats *stats, enum stat_kind kind, const char *name, uint64_t graph,
		       uint32_t node);

/* The row of KEY of PROCESS; NULL: out of memory. Valid until the next call. */
struct stat_row *stats_get_row(struct stats *stats, uint32_t process, uint32_t key);

/* Counts the activities of WINDOW, and calls TAKE, which may be NULL, for each outlier: once, with
 * the first of its keys whose limit it exceeds. Returns 0 or -ENOMEM. */
int stats_take(struct stats *stats, uint32_t process, const struct trace *window,
	       stat_outlier_take *take, void *context);

/* Adds the open interval of PROCESS to the total, and begins another one. Returns 0 or -ENOMEM. */
int stats_end_interval(struct stats *stats, uint32_t process);

#endif
