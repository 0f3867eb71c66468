/* The application's own completion signals: which packet or copy uses each of them.
 *
 * Signals are never replaced or held back by this module, and nothing in them is touched but the
 * two tick words, which are zeroed before the device gets the packet. A signal carries the ticks of
 * its last use only, so a use is settled (its ticks are copied) before the next one begins.
 *
 * A signal that is used again while its last use is not over is shared: its ticks could be either
 * packet's. Nothing that uses it is then timed until the application stores a new value to it. A
 * queue in mode borrow gives the later packet a signal of ours instead (completion_borrow), unless
 * the device has ever waited for the application's signal: the device must not have to wait for a
 * thread. A signal of which other processes have a handle (hsa_amd_ipc_signal_create, _attach) is
 * shared for ever.
 *
 * Threading: any thread, unless stated otherwise. What is known of a signal is in its entry of
 * object_map (struct object); `word` holds the reference of the completion slot that watches the
 * signal, and is exchanged atomically, so each use is settled once. */
#ifndef CAPTURE_HSA_APP_SIGNAL_H
#define CAPTURE_HSA_APP_SIGNAL_H

#include <stdbool.h>

#include <hsa/hsa.h>

#include "capture/hsa/completion_slots.h"
#include "capture/hsa/object_map.h"
#include "record/record.h"

/* Returns the entry of a signal that the runtime made while the tool was active, or NULL: the tool
 * must not read such a signal. Lock-free. */
struct object *app_signal_find(hsa_signal_t signal);

/* Begins a use of SIGNAL by the completion slot that REFERENCE names (slot_reference), or by an
 * activity that is not timed (0). Settles the last use. Returns RECORD_UNTIMED_NO, or
 * RECORD_UNTIMED_SHARED_SIGNAL when the signal is shared; the caller then cancels its slot. */
enum record_untimed app_signal_begin_use(struct object *signal, uint64_t reference);

/* Whether SIGNAL is in use or shared, so that another packet may only borrow it. False also when
 * borrowing is not allowed: another process or the device itself may wait for SIGNAL. May settle
 * the last use. */
bool app_signal_should_borrow(struct object *signal);

/* Notes that a packet or copy on the device waits for SIGNAL: it is never borrowed from now on. */
void app_signal_depend(hsa_signal_t signal);

/* Zeroes the tick words of SIGNAL. Call after app_signal_begin_use and before the device gets the
 * packet; the packet's doorbell publishes these stores. Waits for a thread that is writing the tick
 * words. */
void app_signal_clear_ticks(struct object *signal);

/* The use that app_signal_begin_use announced did not take place. */
void app_signal_cancel_use(struct object *signal, uint64_t reference);

/* Marks every signal as shared, because uses of signals were not recorded for a while. Called when
 * a recording begins again. */
void app_signals_forget_uses(void);

/* Notes that a packet or call that is not timed completes SIGNAL. SIGNAL may be 0 or unknown. */
void app_signal_use_untimed(hsa_signal_t signal);

/* Decrements SIGNAL for what the device has completed, if completions were borrowed from it. Call
 * before the application changes its value: the application may know from another source that the
 * packets are done. GONE: SIGNAL is being destroyed. */
void app_signal_pass_on(struct object *signal, bool gone);

/* SIGNAL is not shared any more, unless it is shared with other processes. */
void app_signal_end_sharing(struct object *signal);

/* The application stores to SIGNAL, so whatever used it is over. The ticks of a dispatch outlive
 * the store and are read later. The times of a copy are taken now, because its end shows in the
 * value only. Inline: the program stores to its signals as often as it submits. */
static inline void app_signal_stored(struct object *signal)
{
	uint64_t last = atomic_load_explicit(&signal->word, memory_order_acquire);

	if (last && slot_reference_is_copy(last) &&
	    atomic_compare_exchange_strong(&signal->word, &last, 0))
		slot_settle(last, RECORD_UNTIMED_SIGNAL_GONE, true);
	if (atomic_load_explicit(&signal->was_borrowed, memory_order_relaxed))
		app_signal_pass_on(signal, false);
	if (atomic_load_explicit(&signal->is_shared, memory_order_relaxed))
		app_signal_end_sharing(signal);
}

/* The application is about to destroy SIGNAL: settles its last use, and waits until no thread reads
 * the signal. */
void app_signal_end(struct object *signal);

/* Other processes may use SIGNAL from now on, or do so already: they complete it, and their packets
 * write its ticks, too. May allocate. */
void app_signal_share(hsa_signal_t signal);

#endif
