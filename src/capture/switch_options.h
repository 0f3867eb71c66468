/* The options of the switch (capture_switch.h) in the environment. Threading: the thread that loads
 * the library. */
#ifndef DAGTAP_CAPTURE_SWITCH_OPTIONS_H
#define DAGTAP_CAPTURE_SWITCH_OPTIONS_H

#include "capture/switch_policy.h"
#include "record/environment.h"

/* Reads the options. RET_SCOPE_NAME is the text of the scope; "" if none is watched. A value that
 * cannot be parsed counts as not given. */
void switch_options_read(struct switch_options *ret_options,
			 char ret_scope_name[RECORD_CAPTURE_RANGE_BYTES]);

#endif
