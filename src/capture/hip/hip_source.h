/* The capture source of HIP: its hooks in the session, its counters of calls, its dispatch
 * table. It is above the registries of graphs and streams, and below the wrappers, which start it
 * with the first call.
 *
 * The witness "hip"/"calls" counts the calls that entered a wrapper while a session was on,
 * independently of the records; "hip"/"open" counts those that had not returned when it stopped. */
#ifndef DAGTAP_CAPTURE_HIP_HIP_SOURCE_H
#define DAGTAP_CAPTURE_HIP_HIP_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "capture/dispatch_table.h"
#include "capture/frame.h"

/* For session_add_source. */
extern const struct capture_source hip_source;

/* Where register.c delivers the table "hip". */
extern struct table_door hip_table;

/* Whether calls of src/vendor/hip_unsubscribed.list pass without a record. Set when a session
 * starts. */
extern _Atomic bool hip_unsubscribes;

/* The calling thread's counter; NULL until its first recorded call. */
extern __thread struct call_counter *hip_counter __attribute__((tls_model("initial-exec")));

/* Whether the process has loaded the HIP runtime. Takes the loader's lock. */
bool hip_is_loaded(void);

/* Counts a call that the calling thread enters; sets hip_counter. */
void hip_count_entered(void);

#endif
