/* The steps of CUDA graphs that exist, kept in memory: a recording begins with those of the graphs
 * that were made before it, so that these have their names, nodes and edges in it. What belongs to
 * destroyed graphs only is discarded from time to time.
 *
 * A step that is not of the recording that is on has no scope in it, and its call has no row; the
 * call's id still says which steps were of one call.
 *
 * Threading: any thread, signal handlers included; one lock, for which a thread waits up to
 * TIMER_SESSION_CHANGE. If a step could not be kept, because the lock could not be taken or memory
 * was short, the steps are discarded and no more are kept until the source asks for it again; a
 * note says so. Nothing is kept, and no lock is taken, unless the source asks for it. */
#ifndef DAGTAP_CAPTURE_CUDA_GRAPH_NOTES_H
#define DAGTAP_CAPTURE_CUDA_GRAPH_NOTES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/capture_session.h"

/* The session whose recording has the kept steps. */
extern _Atomic uint32_t cuda_notes_told;
/* Steps are kept. */
extern _Atomic bool cuda_notes_are_kept;

/* From now on steps are kept. */
void cuda_notes_keep(void);
/* Discards all steps, and keeps no more: CUPTI does not report them any more. Returns whether there
 * were any. */
bool cuda_notes_end(void);
/* In a fork child. */
void cuda_notes_forget_parent(void);

/* Takes a STEP: keeps it, and writes it if a recording is on. Returns whether it is in the
 * recording that is on, or will be in the next one. */
bool cuda_notes_step(enum record_cuda_graph_step step, const struct record_cuda_graph *record);

/* Returns how many steps are kept; UINT32_MAX: not known, because the lock could not be taken. */
uint32_t cuda_notes_count(void);

/* The slow path of cuda_notes_tell. */
void cuda_notes_tell_now(void);

/* Writes the kept steps, once in each recording. May wait for room in the spool, up to TIMER_PACE.
 * Cost once that is done: two loads. */
static inline void cuda_notes_tell(void)
{
	if (atomic_load_explicit(&cuda_notes_told, memory_order_relaxed) !=
		    session_current_number() &&
	    atomic_load_explicit(&cuda_notes_are_kept, memory_order_relaxed))
		cuda_notes_tell_now();
}

#endif
