/* The HSA rows of one spool, gathered over all writers. The tests check these. */
#ifndef TESTS_CAPTURE_HSA_ROWS_H
#define TESTS_CAPTURE_HSA_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record.h"

#define ROWS_QUEUES_MOST 4096 /* rows.queues has room for queue ids below this */

struct row_dispatch {
	uint32_t queue; /* id */
	struct record_dispatch r;
	bool has_done; /* false: done is not valid */
	struct record_dispatch_done done;
};

struct row_copy {
	struct record_copy r;
	uint32_t kind; /* the record's tag */
	bool has_done;
	uint32_t untimed; /* cause; 0: timed */
	uint64_t start;	  /* host ns */
	uint64_t end;
};

/* What the spool says of one queue. */
struct row_queue {
	bool exists; /* a QUEUE record was read, r is valid */
	struct record_queue r;
	bool is_counted;		 /* a QUEUE_COUNT record was read, count is valid */
	struct record_queue_count count; /* the newest QUEUE_COUNT record */
	uint64_t dispatches;		 /* DISPATCH records of this queue */
	uint64_t barriers;		 /* BARRIER records of this queue */
};

struct rows {
	struct row_dispatch *dispatches; /* sorted by queue and packet index */
	size_t dispatch_count;
	struct row_copy *copies; /* sorted by id */
	size_t copy_count;
	struct record_anchor *anchors; /* of all agents, sorted by host time */
	size_t anchor_count;
	struct row_queue queues[ROWS_QUEUES_MOST];     /* indexed by queue id */
	uint64_t barriers;			       /* BARRIER records of all queues */
	uint64_t kernels;			       /* KERNEL records */
	uint64_t kernels_gone;			       /* KERNEL_GONE records */
	uint64_t agents;			       /* AGENT records */
	uint32_t kernel_of_last;		       /* id of the newest KERNEL record */
	char kernel_name[64];			       /* name in that record */
	uint64_t untimed[RECORD_UNTIMED_COUNT];	       /* dispatches by cause; index 0: timed */
	uint64_t copies_untimed[RECORD_UNTIMED_COUNT]; /* copies with a DONE record, by cause */
	uint64_t without_done; /* dispatches without a DONE record that should have one */
	uint64_t orphans;      /* DONE records without a DISPATCH or COPY record */
	uint64_t dropped;      /* dropped records, all classes and causes */
	uint64_t dropped_by[RECORD_CLASS_COUNT][RECORD_DROP_COUNT];
	bool closed; /* the spool was closed properly */
};

/* Reads the only spool in FOLDER. Ends the program with a message when there is not exactly one
 * spool or its content is inconsistent. The caller frees the result. */
struct rows *rows_read(const char *folder);
void rows_free(struct rows *rows);

/* The number of spools in FOLDER. */
int rows_spool_count(const char *folder);

/* The newest value of the witness (SOURCE, KEY) in the only spool of FOLDER, or UINT64_MAX. */
uint64_t rows_witness(const char *folder, const char *source, const char *key);

#endif
