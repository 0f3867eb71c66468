/* One spool's records, sorted out by type, and the process they belong to. */
#ifndef DAGTAP_TRACE_INGEST_H
#define DAGTAP_TRACE_INGEST_H

#include "record/reader.h"
#include "trace/process.h"

/* Adds the process's row and runs all stages. 0, -ENOMEM or -E2BIG. */
int ingest_spool(struct trace *trace, struct strtab *strings, const struct spool_reader *reader);

#endif
