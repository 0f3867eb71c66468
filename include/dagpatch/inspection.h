/* What a recording has done and holds: statistics, relocations, dumps.
 *
 * Part of dagpatch/dagpatch.h, which says what holds for all calls. */
#ifndef DAGPATCH_INSPECTION_H
#define DAGPATCH_INSPECTION_H

#include <stddef.h>
#include <stdint.h>

#include <dagpatch/recordings.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counters of one recording since it was created, and its sizes now. */
struct dagpatch_stats {
	size_t size;		     /* set by the caller; as many bytes are written */
	uint64_t launches;	     /* successful launches, also of unchanged graphs */
	uint64_t unchanged_launches; /* those of LAUNCHES that had nothing to apply */
	/* calls that failed; a call that tried several strategies counts once */
	uint64_t failures;
	/* failed applies after which the executable graph was put back */
	uint64_t rollbacks;
	uint64_t uses[DAGPATCH_STRATEGY_COUNT];	 /* how often each strategy was used */
	uint64_t nodes[DAGPATCH_STRATEGY_COUNT]; /* nodes that each strategy changed */
	/* Time of each strategy, in ns. Estimated for changes of fewer than 64 nodes and for the
	 * table: one use of 16 is timed. */
	uint64_t ns[DAGPATCH_STRATEGY_COUNT];
	uint64_t captures;	   /* captures made by callbacks */
	uint64_t node_count;	   /* nested nodes included */
	uint64_t relocation_count; /* places that hold addresses */
	uint64_t node_bytes; /* bookkeeping of nodes; relocations and parameters are not counted */
	uint64_t relocation_bytes; /* memory of the relocations */
	uint64_t parameter_bytes;  /* memory of the nodes' parameters */
	uint64_t unread_nodes;	   /* nodes that the last dagpatch_verify could not read */
	/* launches into streams that were being captured; not counted in LAUNCHES */
	uint64_t captured_launches;
	/* Memory that is held for the recording now, in bytes. */
	uint64_t host_bytes; /* heap memory of dagpatch; the three sizes above are part of it */
	/* pinned memory from the driver: shadows on the host, the log of the table */
	uint64_t pinned_bytes;
	uint64_t device_bytes; /* device memory: shadows, the table */
	/* memory of the executable graph; 0: none, or the driver does not tell */
	uint64_t exec_bytes;
	/* executable graphs released by dagpatch_evict or for want of memory */
	uint64_t evictions;
	uint64_t memory_retries; /* graphs built after others had been evicted for them */
};

/* Fills *RET_STATS, whose size the caller has set. Works in callbacks, too. */
int dagpatch_recording_stats(const struct dagpatch_recording *recording,
			     struct dagpatch_stats *ret_stats);

/* One place that holds an address. */
struct dagpatch_relocation {
	uint32_t node;
	/* in the node's parameters, for a kernel in its arguments; DAGPATCH_NONE: the node is
	 * recaptured */
	uint32_t byte;
	uint32_t slot;
	uint64_t offset;
};

/* Copies relocation number INDEX of a finalized recording; they are in ascending order of slot.
 * -ERANGE: there are no more, or the recording is not finalized or is nested. */
int dagpatch_recording_relocation(const struct dagpatch_recording *recording, uint32_t index,
				  struct dagpatch_relocation *ret_relocation);

/* Return the driver's handle of the executable graph and of a node. They belong to the recording.
 * NULL: before the first launch or apply, after dagpatch_evict, or no such node. They are valid
 * until the next launch or apply; until then the graph is not evicted for want of memory. On HIP a
 * child has become nodes of the one flat graph: its handle is the node after which the whole child
 * is done. */
void *dagpatch_recording_exec(const struct dagpatch_recording *recording);
void *dagpatch_node_handle(const struct dagpatch_recording *recording, uint32_t node);

/* Format of a dump. */
enum dagpatch_dump_format {
	DAGPATCH_DUMP_TEXT, /* lines of text */
	/* input for the program dot: a box for each node, an arrow for each dependency */
	DAGPATCH_DUMP_GRAPHVIZ,
};

/* Receives BYTES bytes of text, which are not ended by 0 and are valid during the call. Returns 0,
 * or a negative errno, after which it is not called again. */
typedef int (*dagpatch_write_fn)(void *user, const char *text, size_t bytes);

/* Writes a description of the recording, in any state: slots with their addresses; nodes with the
 * kernels' names (as far as the driver knows them), the sizes of their parameters, their addresses
 * (argument, slot, offset) and their dependencies (inside captured work only on HIP; on CUDA the
 * driver keeps them); how the recording was changed last, and which slots and nodes that changed.
 * The text is for people and its form may change. Cost: all relocations are read for each node.
 * -EINVAL: no such format, or NULL; otherwise what WRITE returned. */
int dagpatch_dump(const struct dagpatch_recording *recording, enum dagpatch_dump_format format,
		  dagpatch_write_fn write, void *user);

#ifdef __cplusplus
}
#endif

#endif
