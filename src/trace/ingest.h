/* One process's records, sorted out by type, and the process they belong to. */
#ifndef DAGTAP_TRACE_INGEST_H
#define DAGTAP_TRACE_INGEST_H

#include "trace/load.h"
#include "trace/process.h"

/* How far the whole load is, in stages of processes. */
struct ingest_progress {
	const struct trace_options *options; /* may be NULL */
	uint64_t done, total;
};

/* Stages that a process goes through: what ingest_process adds to `done`. */
uint32_t ingest_stage_count(void);

/* Adds the process's row and runs all stages. 0, -ENOMEM or -E2BIG. */
int ingest_process(struct trace *trace, struct strtab *strings, struct origin *origin,
		   struct ingest_progress *progress);

#endif
