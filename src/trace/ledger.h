/* The ledger's verdict over all processes (the lines themselves are trace.sources). */
#ifndef DAGTAP_TRACE_LEDGER_H
#define DAGTAP_TRACE_LEDGER_H

#include "trace/model.h"

/* No source has anything unexplained and no damage was found. */
bool ledger_is_closed(const struct trace *trace);

/* What is not accounted for is told by the software GPU's counters alone: on a device that counts
 * nothing the ledger would be closed. */
bool ledger_is_device_alone(const struct trace *trace);

/* All of a source's drops. */
uint64_t ledger_dropped(const struct trace *trace, const struct trace_source *source);

/* Records that there was no room, no buffer or no writer for, over all processes. What a ring let go, or the end
 * of the recording cut off, is none of them. */
uint64_t ledger_lost(const struct trace *trace);

#endif
