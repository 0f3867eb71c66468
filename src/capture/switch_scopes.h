/* What capture_switch.c, switch_scopes.c and switch_window.c need of each other: instances of the
 * scope of --capture-range or --iterations are events of the switch. capture_switch.h has what
 * others call. Threading: any thread. */
#ifndef DAGTAP_CAPTURE_SWITCH_SCOPES_H
#define DAGTAP_CAPTURE_SWITCH_SCOPES_H

#include "capture/switch_policy.h"

#define SWITCH_RANGES_MOST 64

/* ---- switch_window.c ---- */

/* An instance begins; the recording is not changed yet. An event that is lost begins an instance
 * that is not selected. */
struct switch_instance switch_instance_begins(void);

/* ---- capture_switch.c ---- */

/* What events change: the policy, and static texts for the notes. */
struct switch_events {
	struct switch_policy *policy;
	const char **call; /* the last call that was an event */
	const char **end;  /* what the last event was that can end a recording */
};

/* Take the lock of the events, and release it. Returns false, with the event counted as lost, if
 * the lock cannot be had. */
bool switch_take_events(struct switch_events *ret_events);
void switch_give_events(void);

/* The instance ends; as switch_instance_begins. */
void switch_instance_ends(struct switch_instance instance);

/* Counts a range that found no room, for the note in the recording. */
void switch_count_unfollowed(void);

/* Makes the recording as it is wanted now. */
void switch_settle(void);

/* The text of the scope; "" if none is watched. */
const char *switch_scope_name(void);

/* ---- switch_scopes.c ---- */

/* The calling thread ends, and its scope with it. */
void switch_scopes_thread_ended(void);

/* In a fork child: ranges are forgotten, and the scope that the thread has open begins anew. */
void switch_scopes_forget_parent(void);

#endif
