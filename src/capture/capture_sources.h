/* The calls of the hooks of all capture sources. session_add_source (capture_session.h) adds a
 * source. Only capture_session.c calls these functions. */
#ifndef DAGTAP_CAPTURE_SOURCES_H
#define DAGTAP_CAPTURE_SOURCES_H

#include <stdbool.h>

#include "capture/capture_session.h"

/* Starts the capture sources that are not started yet, as long as the session's state is DURING.
 * Any thread. No lock is held while a start hook runs, because it may need the vendor's locks. */
void capture_sources_start(enum session_state during);

/* On the housekeeper: calls the tick hooks of all sources that are started. */
void capture_sources_tick(void);

/* Stops all capture sources, in reverse order. Returns false when a tick or a start hook does
 * not end within TIMER_PART_HOOK; sources that are not stopped are stopped before the next session
 * starts. */
bool capture_sources_stop(void);

/* In a forked child, which has one thread: forgets the parent's session and calls the child
 * hooks. */
void capture_sources_forget_parent(void);

#endif
