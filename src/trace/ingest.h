/* Loading one process: sorts its records by type, adds its row to the model, and runs all stages of
 * trace/process_load.h. load.c calls it for one process after the other. */
#ifndef DAGTAP_TRACE_INGEST_H
#define DAGTAP_TRACE_INGEST_H

#include "trace/load.h"
#include "trace/process_load.h"

/* How far the whole load is: `done` and `total` count stages over all processes. */
struct ingest_progress {
	const struct trace_options *options; /* may be NULL */
	uint64_t done, total;
};

/* A stage of loading. `reads` and `writes` name, separated by ", ", the tables and notes that the
 * stage needs from earlier stages, and those that it adds or completes for later ones. */
struct ingest_stage {
	const char *name, *reads, *writes;
	int (*load)(struct process_load *load);
};

/* What the first walk through the records makes, in the words of `writes`. */
#define INGEST_FIRST_WALK "records, file, ids"

/* The stage at INDEX, from 0, in the order in which they run; NULL after the last. */
const struct ingest_stage *ingest_stage_at(uint32_t index);

/* Number of stages that a process goes through; ingest_process adds it to `done`. */
uint32_t ingest_stage_count(void);

/* Adds the process of ORIGIN to TRACE; its texts go to STRINGS. Processes must come in the order of
 * (start, pid). Returns 0, -ENOMEM, -E2BIG (too many rows) or -ESTALE (the file changed). On
 * failure TRACE has part of the rows and can only be closed. */
int ingest_process(struct trace *trace, struct strtab *strings, struct origin *origin,
		   struct ingest_progress *progress);

#endif
