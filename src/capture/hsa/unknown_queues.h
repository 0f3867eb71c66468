/* Counts the packets of queues that have no gate: a call that the tool does not know made the
 * queue, or there was no memory for a gate.
 *
 * The program's doorbells show such queues. The tool does not take one under a gate when it is
 * found: threads may be between reserving a packet in the device's own index and writing it, and
 * the tool would not see the call that destroys the queue. It counts the packets before the queue's
 * write index at each doorbell, and `dagtap check` fails and says how many they are. The queue's
 * memory is read only while the program rings its doorbell, because only then it is known to
 * exist. */
#ifndef CAPTURE_HSA_UNKNOWN_QUEUES_H
#define CAPTURE_HSA_UNKNOWN_QUEUES_H

#include <hsa/hsa.h>

/* The program is about to store to SIGNAL, which has no entry in object_map. If SIGNAL is a
 * doorbell and something is being recorded, counts the packets. The first time in a recording it
 * writes the witnesses, so that they are in the trace even if the process is killed now. Any
 * thread; no lock and no allocation. */
void unknown_queue_ring(hsa_signal_t signal);

/* A recording begins: the witnesses count from here. */
void unknown_queues_begin(void);

/* Writes the recording's witnesses: packets_unknown, and submissions_unknown for doorbells of
 * queues whose packets cannot be counted, such as those of copy engines. Any thread. */
void unknown_queues_witness(void);

#endif
