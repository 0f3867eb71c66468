/* The rows of one spool that the HSA tests look at, gathered over all writers. */
#ifndef TESTS_CAPTURE_HSA_ROWS_H
#define TESTS_CAPTURE_HSA_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record.h"

#define ROWS_QUEUES_MOST 4096

struct row_dispatch {
	uint32_t queue;
	struct record_dispatch r;
	bool has_done;
	struct record_dispatch_done done;
};

struct row_copy {
	struct record_copy r;
	uint32_t kind;
	bool has_done;
	uint32_t untimed;
	uint64_t start;
	uint64_t end;
};

struct row_queue {
	bool exists;
	struct record_queue r;
	bool is_counted;
	struct record_queue_count count; /* the last */
	uint64_t dispatches;		 /* rows */
	uint64_t barriers;
};

struct rows {
	struct row_dispatch *dispatches; /* sorted by queue and packet index */
	size_t dispatch_count;
	struct row_copy *copies; /* sorted by id */
	size_t copy_count;
	struct record_anchor *anchors; /* of all agents, in time order */
	size_t anchor_count;
	struct row_queue queues[ROWS_QUEUES_MOST]; /* by id */
	uint64_t barriers;
	uint64_t kernels;
	uint64_t kernels_gone;
	uint64_t agents;
	uint32_t kernel_of_last;		/* id of the newest KERNEL record */
	char kernel_name[64];			/* its name */
	uint64_t untimed[RECORD_UNTIMED_COUNT]; /* dispatches by cause, 0 = timed */
	uint64_t copies_untimed[RECORD_UNTIMED_COUNT];
	uint64_t without_done; /* dispatches that should have a DONE record and have none */
	uint64_t orphans;      /* completions without a row */
	uint64_t dropped;
	uint64_t dropped_by[RECORD_CLASS_COUNT][RECORD_DROP_COUNT];
	bool closed;
};

/* Reads the only spool in FOLDER; ends the program with a message when it is not sound. */
struct rows *rows_read(const char *folder);
void rows_free(struct rows *rows);

/* How many spools there are. */
int rows_spool_count(const char *folder);

/* The last value of a witness, or UINT64_MAX. */
uint64_t rows_witness(const char *folder, const char *source, const char *key);

#endif
