/* The verdict of the ledger over all processes. The lines themselves are trace.sources, which
 * ledger_load fills. Any thread may ask a loaded trace. */
#ifndef DAGTAP_TRACE_LEDGER_H
#define DAGTAP_TRACE_LEDGER_H

#include "trace/trace_model.h"

/* True if no source has an unexplained difference and no message reports damage. */
bool ledger_is_closed(const struct trace *trace);

/* The state of the recording: "damaged" if a message reports damage, "truncated" if a process was
 * killed or still runs, otherwise "complete". */
const char *ledger_state_text(const struct trace *trace);

/* True if the ledger is not closed, and only because of lines of the software GPU's counters: a
 * device without counters would have given a closed ledger. */
bool ledger_is_device_alone(const struct trace *trace);

/* Sum of all drops of SOURCE, of any kind. */
uint64_t ledger_dropped(const struct trace *trace, const struct trace_source *source);

/* Number of lost records over all processes: those for which there was no room, no buffer or no
 * writer, and packets that a gate had to pass without a record. Records that a ring recording
 * reused, or that the end of the recording cut off, are not counted. */
uint64_t ledger_lost(const struct trace *trace);

#endif
