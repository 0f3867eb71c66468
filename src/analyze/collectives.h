/* Collectives: the operations of NCCL and RCCL on each communicator, their bandwidth, and which
 * rank was late.
 *
 * An operation is one rank's part of a collective, or its sends and receives. Those that a group
 * makes on one communicator are one operation here, because the library runs them in common
 * kernels. An operation lasts from the start of its first kernel to the end of its last one. On a
 * rank that comes early this time contains the wait for the others.
 *
 * Ranks are compared on the host's clock: those of one host, and those of a merged recording, on
 * the clock of its reference with the uncertainty that its clocks have. A trace need not have all
 * ranks.
 *
 * Threading: one thread. Cost: one walk through calls and activities, and for each collective that
 * several ranks have, the critical paths of two of them. */
#ifndef DAGTAP_ANALYZE_COLLECTIVES_H
#define DAGTAP_ANALYZE_COLLECTIVES_H

#include "analyze/distribution.h"
#include "analyze/filter.h"
#include "analyze/path.h"

/* What the bus bandwidth is of the algorithm's, with N ranks (nccl-tests, PERFORMANCE.md). */
enum collective_factor {
	COLLECTIVE_ONCE,  /* 1 */
	COLLECTIVE_SHARE, /* (N - 1) / N */
	COLLECTIVE_TWICE, /* 2 (N - 1) / N */
	COLLECTIVE_NO_FACTOR
};

/* X(name, function in lower case without "nccl", "WithBias" and "Config", key in JSON, factor,
 * whether the function's count is that of one of N equal parts). */
#define COLLECTIVE_KINDS(X)                                                                        \
	X(ALL_REDUCE, "allreduce", "all_reduce", COLLECTIVE_TWICE, false)                          \
	X(ALL_GATHER, "allgather", "all_gather", COLLECTIVE_SHARE, true)                           \
	X(REDUCE_SCATTER, "reducescatter", "reduce_scatter", COLLECTIVE_SHARE, true)               \
	X(ALL_TO_ALL, "alltoall", "all_to_all", COLLECTIVE_SHARE, true)                            \
	X(ALL_TO_ALL_V, "alltoallv", "all_to_all_v", COLLECTIVE_NO_FACTOR, false)                  \
	X(BROADCAST, "broadcast", "broadcast", COLLECTIVE_ONCE, false)                             \
	X(REDUCE, "reduce", "reduce", COLLECTIVE_ONCE, false)                                      \
	X(GATHER, "gather", "gather", COLLECTIVE_SHARE, true)                                      \
	X(SCATTER, "scatter", "scatter", COLLECTIVE_SHARE, true)                                   \
	X(SEND, "send", "send", COLLECTIVE_ONCE, false)                                            \
	X(RECV, "recv", "receive", COLLECTIVE_ONCE, false)                                         \
	X(PUT, "putsignal", "put", COLLECTIVE_ONCE, false)                                         \
	X(SIGNAL, "signal", "signal", COLLECTIVE_NO_FACTOR, false)                                 \
	X(WAIT_SIGNAL, "waitsignal", "wait_signal", COLLECTIVE_NO_FACTOR, false)                   \
	X(SEND_RECV, "", "send_receive", COLLECTIVE_ONCE, false)                                   \
	X(MIXED, "", "mixed", COLLECTIVE_NO_FACTOR, false)

enum collective_kind {
#define X(name, function, key, factor, is_part) COLLECTIVE_##name,
	COLLECTIVE_KINDS(X)
#undef X
		COLLECTIVE_KIND_COUNT
};

/* Equal on all ranks if NCCL's calls that made it were seen; else one of a process. */
struct collective_communicator {
	uint64_t id;	  /* 0: not known */
	uint64_t handle;  /* in one of the processes */
	uint32_t process; /* the first that used it */
	uint32_t ranks;	  /* how many it has; 0: not known */
};

struct collective {
	uint32_t communicator; /* index into collectives.communicators */
	uint32_t process;
	int32_t rank;	 /* -1: not known */
	uint32_t call;	 /* its first call; index into trace.calls */
	uint32_t count;	 /* calls of a group on this communicator; else 1 */
	uint64_t number; /* of its first call, among the communicator's; 0: not known */
	uint64_t bytes;	 /* as nccl-tests count them; 0: not known */
	enum collective_kind kind;
	uint32_t activity; /* the first of its kernels; TRACE_NONE: none is known */
	bool is_timed;
	int64_t start_ns, end_ns;
	int64_t begin_ns; /* when the host made the first call */
};

/* All operations of one kind and size on one communicator. */
struct collective_row {
	uint32_t communicator;
	enum collective_kind kind;
	uint64_t bytes;
	uint64_t count;
	uint32_t untimed; /* of these: in a stream capture, or without a kernel */
	struct distribution duration;
	/* Collectives that all ranks have in the trace: how many, and the sum of the times from the
	 * last rank's start to the last end. */
	uint32_t whole_count;
	int64_t whole_ns;
	uint64_t whole_error_ns; /* the most by which whole_ns may be wrong */
};

/* What took longer on the critical path of a late rank than on that of the rank that came first. */
struct collective_cause {
	uint32_t rank; /* index into collectives.ranks */
	enum path_kind kind;
	trace_string name; /* of the kernel or call; 0: none */
	uint32_t count;	   /* collectives */
	int64_t ns;	   /* longer */
};

/* One collective of which several ranks are in the trace. */
struct collective_instance {
	uint32_t first, count; /* its operations, index into collectives.rows; by rank */
	/* Operations that started first, last, and last but one. */
	uint32_t early, late, next;
	int64_t spread_ns; /* from the first start to the last */
	int64_t alone_ns;  /* from the last start but one to the last */
	/* The most by which these may be wrong; 0: the ranks have one clock. */
	uint64_t spread_error_ns, alone_error_ns;
	bool is_sure; /* the last rank began after each other one, whatever the error is */
	/* What explains most of it; PATH_KIND_COUNT: nothing took longer. */
	struct collective_cause cause;
};

/* A rank of a communicator. Sums over the instances. */
struct collective_rank {
	uint32_t communicator;
	int32_t rank;
	uint32_t process;
	uint32_t agent;	      /* TRACE_NONE: not known */
	uint32_t count;	      /* instances */
	uint32_t last;	      /* of these, in which it started last */
	uint32_t surely_last; /* of these, in which that is_sure */
	/* Later than the first rank: in all, and at most. */
	int64_t late_ns, most_ns;
	uint64_t late_error_ns;		   /* the most by which late_ns may be wrong */
	int64_t alone_ns;		   /* where it was last: later than the last but one */
	uint32_t cause_first, cause_count; /* into collectives.causes, the longest first */
};

struct collectives {
	const struct trace *trace;
	struct collective_communicator *communicators;
	uint32_t communicators_count;
	/* By (communicator, number, rank); those without a number or that not all ranks call (send,
	 * receive) last in their communicator. */
	struct collective *rows;
	uint32_t rows_count;
	struct collective_row *stats; /* by (communicator, kind, bytes) */
	uint32_t stats_count;
	struct collective_instance *instances; /* the longest spread first */
	uint32_t instances_count;
	struct collective_rank *ranks; /* by (communicator, rank) */
	uint32_t ranks_count;
	struct collective_cause *causes;
	uint32_t causes_count;
	uint32_t foreign;    /* instances left out: the clocks of their hosts are not known */
	uint32_t mismatched; /* instances left out: their ranks do not agree on kind and bytes */
	uint64_t unnumbered; /* kernels of replays: no call tells which operation they are */
};

/* Finds the collectives of the trace of DEPS, which must outlive RET_COLLECTIVES; with SELECTION,
 * those of which a call or a kernel is selected. The caller releases RET_COLLECTIVES. 0, or -ENOMEM
 * with RET_COLLECTIVES unchanged. */
int collectives_make(const struct dependencies *deps, const struct selection *selection,
		     struct collectives *ret_collectives);
void collectives_release(struct collectives *collectives);

/* Bytes per second, as nccl-tests calculate them: of the algorithm, BYTES by NS; of the bus, that
 * times the factor of KIND for RANKS. 0: not known. */
double collective_algorithm_rate(uint64_t bytes, double ns);
double collective_bus_rate(enum collective_kind kind, uint32_t ranks, uint64_t bytes, double ns);

/* Static: the key in JSON. */
const char *collective_kind_key(enum collective_kind kind);

/* The most by which the distance of the starts of the operations A and B may be wrong. */
uint64_t collective_start_error(const struct collectives *collectives, uint32_t a, uint32_t b);

/* Parts of collectives_make: fill communicators and rows; then instances, by row and without
 * causes; ranks and causes. collective_ranks_compare calls collective_instances_find. 0 or
 * -ENOMEM. */
int collective_calls_find(const struct dependencies *deps, const struct selection *selection,
			  struct collectives *collectives);
int collective_instances_find(struct collectives *collectives);
int collective_ranks_compare(const struct dependencies *deps, struct collectives *collectives);

#endif
