/* Signals. A signal is an amd_signal_t block, and its handle is the block's address. Threads wait
 * for the value with a futex. signal.c holds the blocks, signal_complete.c completes packets and
 * copies, signal_api.c has the HSA functions.
 *
 * The completion signal of a packet or a copy is an address, as for hardware. Three cases exist. A
 * block that hsa_signal_create or hsa_amd_signal_create made lies in the slab of signal.c and is
 * reference counted. A block that the program made in the memory of a pool is accepted, as hardware
 * does; its kind is not checked. A block of the slab that was destroyed is not written, and its use
 * is counted (signal_errors).
 *
 * Threading: any thread may call these functions. */
#ifndef SOFTGPU_SIGNAL_H
#define SOFTGPU_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

/* The block behind a handle of the slab (signal_block.h), with the layout of ROCr's SharedSignal:
 * 128 bytes. */
struct softgpu_signal;

/* Takes a reference to SIGNAL, which keeps its block from being reused. Queued copies, handlers and
 * running packets hold one reference each. Returns false, and counts an error, for a handle that
 * was destroyed or never existed. For a signal in pool memory it takes no reference and returns
 * true. */
bool signal_retain(hsa_signal_t signal);
/* Releases a reference of signal_retain. Does nothing for a signal that is not in the slab. */
void signal_release(hsa_signal_t signal);

/* Completes a packet as the device does: writes the ticks (if STAMP), decrements the value
 * atomically, writes the event mailbox, and wakes waiting threads and async handlers, in this
 * order. Does nothing for handle 0. A destroyed or unknown signal is counted and not written. */
void signal_complete(hsa_signal_t signal, bool stamp, uint64_t start_tick, uint64_t end_tick);
/* The same for a copy. The ticks go to the block's SDMA words, which
 * hsa_amd_profiling_get_async_copy_time reads, and AGENT is noted with them. In pool memory, which
 * has no SDMA words, they go to the words of a dispatch. */
void signal_complete_copy(hsa_signal_t signal, bool stamp, uint64_t start_tick, uint64_t end_tick,
			  hsa_agent_t agent);

/* Returns the value, by an acquire load; 0, and counts an error, for a handle that is not a live
 * signal. */
hsa_signal_value_t signal_value(hsa_signal_t signal);

/* Returns whether ADDRESS is the place of the value of a live signal of the slab, as
 * hsa_amd_signal_value_pointer gives it. False for a doorbell. */
bool signal_is_value(const void *address);

#endif
