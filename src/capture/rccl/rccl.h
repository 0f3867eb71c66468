/* RCCL's part in the session: its calls, apart from the HIP calls that they make in turn.
 *
 * The witness "rccl"/"calls" counts what entered a wrapper while tracing was on, apart from the records;
 * "rccl"/"open" what had not returned when tracing stopped. */
#ifndef DAGTAP_CAPTURE_RCCL_RCCL_H
#define DAGTAP_CAPTURE_RCCL_RCCL_H

#include "capture/session.h"
#include "capture/table.h"

extern const struct session_part rccl_part;

extern struct table_door rccl_table;

#endif
