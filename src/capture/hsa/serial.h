/* One kernel at a time on each GPU (DAGTAP_HSA_SERIALIZE=1): the gates hold packets back.
 *
 * Each GPU has a turn, which one dispatch has at a time. A dispatch passes its gate only when the
 * last dispatch of any of the GPU's queues has completed. A packet that waits for signals passes
 * only when their values are there. So a published kernel never waits for one that is held back,
 * whatever the dependencies between queues are, and no packet is added: kernels that depend on
 * others through signals cannot deadlock. Kernels that wait for each other in memory could. A turn
 * therefore ends after three seconds (TIMER_SERIAL_TURN) when another kernel wants it, and that is
 * counted.
 *
 * The program sees that kernels start later, one after the other, some 50 us apart, and that a
 * doorbell returns before its packets are on the device.
 *
 * Threading: a turn has a spin lock of its own, held for a few instructions. serial_may_pass only
 * tries it and returns false when it is taken; serial_passed and serial_leave spin. */
#ifndef CAPTURE_HSA_SERIAL_H
#define CAPTURE_HSA_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/hsa/gate_packet.h"

/* Returns the turn of AGENT's queues, created at the first call. NULL, and a note says so, when
 * there is no memory for it. One thread at a time: called under the lock of gate_open. */
struct serial_turn *serial_turn_of(hsa_agent_t agent);

/* Whether the packet may be published now; a dispatch then has the turn. False: the gate ends its
 * pass, and the monitor makes another one later. Called by the holder of a gate that has a turn. */
bool serial_may_pass(struct pass *pass, const union packet *packet, uint16_t header);

/* The packet is recorded and is going to be published: from now on the turn waits for its end.
 * Called by the same holder after serial_may_pass returned true. */
void serial_passed(struct pass *pass, uint16_t header);

/* GATE is closed, or does not hold packets back any more: gives its turn back. Any thread; does
 * nothing for a gate without a turn. */
void serial_leave(struct gate *gate);

/* Turns that were ended although their kernel was still running. Since the process began. */
uint64_t serial_overruns(void);

/* Resets all turns. Called in a fork child, where threads that do not exist may hold their
 * locks. */
void serial_forget(void);

#endif
