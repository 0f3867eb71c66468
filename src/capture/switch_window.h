/* A request in iterations: instances of the scope that is watched, numbered from 0 in the order in
 * which they begin. The recording is on from the begin of the first one to the begin of the one
 * after the last, as Kineto counts its steps.
 *
 * Threading: any thread. */
#ifndef DAGTAP_CAPTURE_SWITCH_WINDOW_H
#define DAGTAP_CAPTURE_SWITCH_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/switch_policy.h"

/* If the instance FIRST has begun, those from the next multiple of ROUND_UP on are meant. ROUND_UP
 * and COUNT are at least 1. */
struct switch_iterations {
	uint64_t first, round_up, count;
};

/* Records these iterations. WHO is static. Returns false if no scope is watched, or such a
 * recording is on. */
bool switch_ask_iterations(const struct switch_iterations *wanted, const char *who);

/* Returns how far they are; SWITCH_WINDOW_OVER is returned once. RET_NUMBER: the number of the
 * recording that began with them; 0: none has. */
enum switch_window_state switch_read_iterations(uint32_t *ret_number);

/* Takes the request back. Returns false if its iterations have begun, or that is not known. */
bool switch_drop_iterations(void);

#endif
