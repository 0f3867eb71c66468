/* The table of addresses, as cuda_table.c (binding and launching, and how it works) and
 * cuda_table_make.c (making) share it. */
#ifndef DAGPATCH_PATCH_CUDA_TABLE_H
#define DAGPATCH_PATCH_CUDA_TABLE_H

#include "patch/cuda/cuda_driver.h"
#include "patch/cuda/cuda_kernels.h"

/* The progress word has a cache line of its own, because the device writes it. */
#define HEAD_BYTES  128
#define STATE_BYTES 64

_Static_assert(sizeof(struct updater_progress) <= HEAD_BYTES &&
		       sizeof(struct updater_state) <= STATE_BYTES,
	       "each comes before what is sized by the plan");

struct slot_state {
	uint64_t address;  /* bound last */
	uint64_t position; /* of its last entry in the log, plus 1; 0: never bound */
};

struct driver_table {
	struct driver_table *next; /* in the list of the device */
	/* the graph that the table is made for, until it is instantiated */
	cuda_graph graph;
	cuda_exec exec; /* set when the graph is instantiated */
	cuda_node updater;
	cuda_function function;
	struct updater_plan plan;
	unsigned int threads;
	cuda_stream stream;		   /* for uploads, and to query whether the device works */
	struct updater_progress *progress; /* in host memory, followed by the two rings */
	uint64_t *ends;
	struct updater_entry *log;
	cuda_address on_device; /* state, first[], relocations */
	void *contents;		/* what is copied there; NULL when it is known to be there */
	size_t device_bytes;
	uint64_t end_count; /* counts of the rings: powers of two */
	uint64_t log_count;
	uint64_t runs;	  /* runs of the updater that were launched */
	uint64_t written; /* entries written to the log */
	/* entries that belong to a launched run; later entries may still be overwritten */
	uint64_t launched;
	uint64_t last_stream;
	bool has_last_stream; /* false: it is unknown which launches the updater would run after */
	bool is_apart;	      /* the node is disabled where the updater can run before the graph */
	bool is_stale;	      /* the host has set a node of the graph since the last launch */
	uint32_t slot_count;
	struct slot_state slots[];
};

/* The bytes of pinned memory: the progress word and the two rings. */
static inline size_t table_ring_bytes(const struct driver_table *table)
{
	return HEAD_BYTES + table->end_count * sizeof(*table->ends) +
	       table->log_count * sizeof(*table->log);
}

/* Makes all parts of TABLE, which is zeroed, for PLAN, and adds the updater to GRAPH. On failure
 * the caller destroys the table. Returns 0 or a negative errno, with patch_fault. */
int cuda_table_fill(struct cuda_driver *cuda, struct driver_table *table, cuda_graph graph,
		    const struct patch_table_plan *plan);

#endif
