/* roctxProfilerPause and roctxProfilerResume: with `dagtap record --wait` they stop and start the
 * recording (capture_switch.h). A program reaches them by symbol, or through the second of the
 * tables that a roctx library hands over; a call may pass both wrappers, which changes nothing. */
#ifndef DAGTAP_CAPTURE_ROCTX_CONTROL_H
#define DAGTAP_CAPTURE_ROCTX_CONTROL_H

#include "capture/dispatch_table.h"

/* Where register.c delivers that table, and the table's layout. */
extern struct table_door roctx_control_table;
extern const struct table_layout roctx_control_layout;

#endif
