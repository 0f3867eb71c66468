/* Signals: amd_signal_t blocks (handle == address), reference counted, futex waits on the value.
 *
 * A packet's or copy's completion signal is what the hardware sees: an address. A block that was
 * made by hsa_signal_create or hsa_amd_signal_create lives in our slab and is tracked; a block in
 * a memory pool's allocation is accepted as hardware would (kind 1); a block of ours that was
 * destroyed is a counted error and is not written. */
#ifndef SOFTGPU_SIGNAL_H
#define SOFTGPU_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

/* As ROCr's SharedSignal: what lies behind a handle that we made. 128 bytes. */
struct softgpu_signal;

/* References keep the block from being re-used: queued copies, handlers and running packets hold
 * one each. retain returns false (and counts an error) for a handle that is dead or never was. */
bool signal_retain(hsa_signal_t signal);
void signal_release(hsa_signal_t signal);

/* Ends an operation as the device does: ticks first (when STAMP), then an atomic decrement, then
 * wake-ups, event mailbox and async handlers. Handle 0 is no operation. */
void signal_complete(hsa_signal_t signal, bool stamp, uint64_t start_tick, uint64_t end_tick);
/* The same for a copy engine: stamps go to the block's SDMA words, which
 * hsa_amd_profiling_get_async_copy_time reads. AGENT is remembered for it. */
void signal_complete_copy(hsa_signal_t signal, bool stamp, uint64_t start_tick, uint64_t end_tick,
			  hsa_agent_t agent);

hsa_signal_value_t signal_value(hsa_signal_t signal); /* acquire load */

/* True for where the value of a live signal of ours lies (hsa_amd_signal_value_pointer). */
bool signal_is_value(const void *address);

/* Registers a callback for the next change of any signal in the process: what the packet processor
 * and the copy engine sleep on when they wait for dependencies. A 32-bit futex word that moves. */
uint32_t signal_epoch(void);
void signal_epoch_wait(uint32_t seen, uint64_t until_ns); /* of CLOCK_MONOTONIC */
/* Wakes the sleepers for another reason than a signal: there is new work. */
void signal_epoch_bump(void);

#endif
