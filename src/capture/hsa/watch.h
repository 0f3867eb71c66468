/* The application's own completion signals. They are never replaced, held back or touched but for
 * their two tick words, which are zeroed before the device gets the packet. A signal carries the
 * times of its last use only, so a use is settled (its ticks copied) before the next one begins.
 *
 * A signal that is used again while its last use was not over is shared: its ticks could be either
 * packet's. Nothing that uses it is timed then, until the application stores a new value to it; a
 * queue in mode BORROW gives the later packet a signal of ours (completion_borrow) instead, unless
 * the device has ever waited for the application's: that must not have to wait for a thread. A
 * signal that other processes have a handle of (hsa_amd_ipc_signal_create, _attach) is shared for
 * ever. */
#ifndef CAPTURE_HSA_WATCH_H
#define CAPTURE_HSA_WATCH_H

#include <stdbool.h>

#include <hsa/hsa.h>

#include "capture/hsa/object_map.h"
#include "record/record.h"

/* The entry of a signal that the runtime made, or NULL: not to be looked at. */
struct object *watch_find(hsa_signal_t signal);

/* SIGNAL is about to be used by what REFERENCE stands for (slot_reference), or by something that is
 * not timed (0). Returns RECORD_UNTIMED_NO or RECORD_UNTIMED_SHARED_SIGNAL. */
enum record_untimed watch_begin(struct object *signal, uint64_t reference);

/* Whether SIGNAL is in use, so that another packet may only borrow it; false also when it may not
 * because the device itself waits for it. */
bool watch_should_borrow(struct object *signal);

/* A packet or copy on the device waits for SIGNAL. */
void watch_depend(hsa_signal_t signal);

/* After watch_begin, before the device gets the packet, whose doorbell publishes this. */
void watch_clear_ticks(struct object *signal);

/* The use that watch_begin announced did not happen. */
void watch_cancel(struct object *signal, uint64_t reference);

/* Nobody has watched for a while: any signal may be in use. */
void watch_forget_uses(void);

/* A packet or call of a kind that is not timed completes SIGNAL. */
void watch_pass(hsa_signal_t signal);

#endif
