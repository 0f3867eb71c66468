/* The capture source of RCCL: its calls, recorded besides the HIP calls that they make.
 *
 * The witness "rccl"/"calls" counts the calls that entered a wrapper while a session was on,
 * independently of the records; "rccl"/"open" counts those that had not returned when it
 * stopped. A session without calls of RCCL has neither. */
#ifndef DAGTAP_CAPTURE_RCCL_RCCL_H
#define DAGTAP_CAPTURE_RCCL_RCCL_H

#include "capture/capture_session.h"
#include "capture/dispatch_table.h"

/* For session_add_source. */
extern const struct capture_source rccl_source;

/* Where register.c delivers the table "rccl". */
extern struct table_door rccl_table;

#endif
