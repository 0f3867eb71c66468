/* Holding gates: what a doorbell does, and the work of the thread that has taken a gate. */
#ifndef CAPTURE_HSA_GATE_HOLD_H
#define CAPTURE_HSA_GATE_HOLD_H

#include "capture/hsa/gate.h"

/* Does what a doorbell with VALUE asks for. When the call returns, the packets up to VALUE, as far
 * as they are written and no unwritten packet lies before them, are recorded and published: by this
 * thread if the gate was free, else by the holder. The wait for the holder ends after half a second
 * (TIMER_GATE_ANSWER); then the monitor is asked to look after the gate. Any thread, also in a
 * signal handler. */
void gate_ring(struct gate *gate, uint64_t value);

/* Called by the holder: makes passes until no request is left that it has not seen, then leaves the
 * gate. Returns at once when the gate was taken from the calling thread. */
void gate_work(struct gate *gate);

/* Requests the gate, and does the work if it was free. Returns hold_request's result: 0 means that
 * the work is done. */
uint64_t gate_enter(struct gate *gate);

/* Takes the gate if it is free; false also when it is closed. Never waits. The caller then calls
 * gate_leave or gate_work. */
bool gate_try_hold(struct gate *gate);

/* Leaves the gate after gate_try_hold. Does the work of threads that rang meanwhile first. */
void gate_leave(struct gate *gate);

/* Ends recording in GATE; does nothing when that is done already. Called by the holder, or when the
 * holder is interrupted or stopped. The caller writes the last count before. */
void gate_end_recording(struct gate *gate);

#endif
