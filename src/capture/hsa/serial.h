/* One kernel at a time on each GPU (DAGTAP_HSA_SERIALIZE=1): the gates hold packets back.
 *
 * A dispatch passes its gate only when the GPU's turn is free, that is, when the last dispatch of
 * any queue has completed. A packet that waits for signals passes only when they are there. So a
 * published kernel never waits for one that is held back, whatever depends on what between
 * queues, and no packet is added: kernels that depend on others through signals cannot deadlock.
 * Kernels that wait for each other in memory would: a turn ends after three seconds when somebody
 * else waits for it, and that is counted.
 *
 * The program sees kernels start later, one after the other, some 50 us apart, and a doorbell
 * that returns before its packets are on the device. */
#ifndef CAPTURE_HSA_SERIAL_H
#define CAPTURE_HSA_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/hsa/gate_pass.h"

/* The turn of AGENT's queues; NULL, and a note says so, when there is no memory for it. One thread
 * at a time. */
struct serial_turn *serial_turn_of(hsa_agent_t agent);

/* By the holder of a gate with a turn: whether the packet may be published now. The monitor tries
 * again. */
bool serial_may_pass(struct pass *pass, const union packet *packet, uint16_t header);
/* It is going to be published. */
void serial_passed(struct pass *pass, uint16_t header);
/* GATE is closed, or does not hold packets back any more. */
void serial_leave(struct gate *gate);

/* Turns that were ended although their kernel was still running. */
uint64_t serial_overruns(void);
/* In a fork child. */
void serial_forget(void);

#endif
