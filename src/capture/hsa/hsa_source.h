/* The hsa capture source in the session: entry points for the runtime, start and end of recordings,
 * and when the runtime may be called.
 *
 * Two states, both of the process:
 * - live (hsa_state.h): the wrappers look at packets and signals. True from the first OnLoad on;
 *   false again only in a fork child.
 * - open (runtime_is_open in hsa_source.c): the tool may call the runtime. From OnLoad until the
 *   last hsa_shut_down.
 *
 * The files of this folder, in an order in which each calls only those before it:
 * - hsa_calls (the runtime's functions), hsa_state, monitor_state, object_map, reservations;
 * - what is known of the machine and the program: hsa_agents, hsa_anchors, hsa_kernels, queue_mode;
 * - how the ends of dispatches and copies are learned: completion, completion_slots, app_signal;
 * - the gates of queues: gate_list, gate_counts, serial, gate_pass, gate_hold, gate_resort,
 *   untraced, gate;
 * - hsa_copies, and hsa_monitor, which looks at all of these;
 * - the other wrappers (hsa_wrappers.h): hsa_faults, hsa_memory, intercepted, outside,
 *   unknown_queues, queue_wrap, queue_made, signal_wrap;
 * - hsa_source. */
#ifndef CAPTURE_HSA_SOURCE_H
#define CAPTURE_HSA_SOURCE_H

#include <stdint.h>

/* Takes the dispatch tables that the runtime hands over, by either of its entry points for tools
 * (OnLoad, rocprofiler_set_api_table). The first call counts; later ones with the runtime open do
 * nothing. Returns 0, or -ENOTSUP when the layout of the tables is unknown or there is no memory or
 * thread for the source. Called by the runtime, inside hsa_init. */
int hsa_source_open(void *table);

/* Dispatches of this process that came from outside of any wrapped call. For the hip capture
 * source. Any thread. */
uint64_t hsa_dispatches_without_context(void);

#endif
