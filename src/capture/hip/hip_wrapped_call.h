/* A wrapped HIP call that is under way, as the wrapper, the hooks and the registries see it. */
#ifndef DAGTAP_CAPTURE_HIP_HIP_WRAPPED_CALL_H
#define DAGTAP_CAPTURE_HIP_HIP_WRAPPED_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/frame.h"

/* One call that is under way; lives on the wrapper's stack. */
struct hip_call {
	struct frame frame;
	void *stream; /* the call's stream argument; NULL: none, or the default stream */
	/* While STREAM is being captured: one of its last nodes before the call; NULL: none. */
	const void *last_node;
	const void *saved; /* passed from a before hook to its after hook */
	uint8_t door;	   /* the entry point, DOOR_SYMBOL or DOOR_TABLE + n */
	/* STREAM was being captured at entry; or some stream was, and the call does not name its
	 * stream. */
	bool capturing;
	bool is_node; /* the call has become a node; from stream_capture_after on */
	/* A call of a second runtime in the process: besides its API record, only hooks with
	 * is_for_all take note of it. */
	bool is_bare;
};

#endif
