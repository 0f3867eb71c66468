/* Records in memory that their owner has selected: a part of one process's recording, to be loaded
 * on its own with trace_open_records (trace/load.h). src/live makes them. A set has no counts and
 * no damages; what is missing in it is unknown to the loader. */
#ifndef DAGTAP_TRACE_RECORD_SET_H
#define DAGTAP_TRACE_RECORD_SET_H

#include <stddef.h>
#include <stdint.h>

#include "record/spool_reader.h"

/* Well-formed records (record/record_check.h), one after the other. */
struct record_run {
	const void *records; /* aligned to 8 bytes */
	size_t bytes;
	uint32_t tid; /* thread that wrote them, until a THREAD record names another */
};

/* The owner keeps everything until the set is loaded. */
struct record_set {
	const struct spool_info *info; /* the process */
	const struct record_run *runs; /* of one thread in the order of writing */
	uint32_t run_count;
};

#endif
