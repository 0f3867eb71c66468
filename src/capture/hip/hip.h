/* The HIP part of the session: what it tells about itself, and its count of calls.
 *
 * hip_part goes to session_add_part once. The witness "hip"/"calls" counts what entered a wrapper
 * while tracing was on, apart from the records; "hip"/"open" what had not returned when tracing
 * stopped. */
#ifndef DAGTAP_CAPTURE_HIP_HIP_H
#define DAGTAP_CAPTURE_HIP_HIP_H

#include "capture/frame.h"
#include "capture/table.h"

extern const struct session_part hip_part;

/* Since 6.0 HIP hands out tables; what their slots mean did not change in 7. */
enum { HIP_TABLE_MAJOR_FIRST = 6, HIP_TABLE_MAJOR_LAST = 7 };

extern struct table_door hip_table;

/* This thread's, from its first recorded call on. */
extern __thread struct call_counter *hip_counter __attribute__((tls_model("initial-exec")));

void hip_count_entered(void);

/* HIP_VERSION of the runtime in the process (50221153), 0 = not to be had. Calls the runtime the
 * first time: only after a call that succeeded. */
int hip_version(void);

/* Next object behind the named symbol of the HIP library, or NULL. */
void *hip_resolve_symbol(const char *symbol);

#endif
