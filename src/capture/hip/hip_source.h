/* The capture source of HIP: its hooks in the session, its counters of calls, its dispatch
 * table.
 *
 * The witness "hip"/"calls" counts the calls that entered a wrapper while a session was on,
 * independently of the records; "hip"/"open" counts those that had not returned when it stopped. */
#ifndef DAGTAP_CAPTURE_HIP_HIP_SOURCE_H
#define DAGTAP_CAPTURE_HIP_HIP_SOURCE_H

#include "capture/dispatch_table.h"
#include "capture/frame.h"

/* For session_add_source. */
extern const struct capture_source hip_source;

/* HIP hands out dispatch tables since 6.0. The meaning of the slots did not change in 7. */
enum { HIP_TABLE_MAJOR_FIRST = 6, HIP_TABLE_MAJOR_LAST = 7 };

/* Where register.c delivers the table "hip". */
extern struct table_door hip_table;

/* The calling thread's counter; NULL until its first recorded call. */
extern __thread struct call_counter *hip_counter __attribute__((tls_model("initial-exec")));

/* Counts a call that the calling thread enters; sets hip_counter. */
void hip_count_entered(void);

/* Returns HIP_VERSION of the runtime in the process (50221153 is 5.2.21153); 0: unknown. The
 * first call asks the runtime, so call it only after a HIP call that has succeeded. */
int hip_version(void);

/* Returns the address of SYMBOL in the HIP library behind ours (symbol_next), or NULL. */
void *hip_resolve_symbol(const char *symbol);

#endif
