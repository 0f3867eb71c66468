/* Arms the switch with the modules that are built on it: capture_switch.c knows them by this table
 * alone. */
#ifndef DAGTAP_CAPTURE_SWITCH_ARM_H
#define DAGTAP_CAPTURE_SWITCH_ARM_H

#include "capture/switch_policy.h"
#include "record/environment.h"

/* Static. */
struct switch_parts {
	void (*thread_ended)(void);  /* on each thread that has used the session */
	void (*forget_parent)(void); /* in a fork child, last */
	/* The process has used a GPU, and the recording is as it is wanted. By the holder of the
	 * switch's lock. */
	void (*settled)(void);
};

/* Before any event, once. SCOPE, of less than RECORD_CAPTURE_RANGE_BYTES bytes, is the text of the
 * scope that is watched; "" if none is. */
void switch_arm(const struct switch_options *wanted, const char *scope,
		const struct switch_parts *with);

#endif
