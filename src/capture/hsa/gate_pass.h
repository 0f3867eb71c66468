/* The hot half of the gate: looks at the packets that the application wrote and publishes them. */
#ifndef CAPTURE_HSA_GATE_PASS_H
#define CAPTURE_HSA_GATE_PASS_H

#include "capture/hsa/gate.h"

/* By the holder of the gate. Returns how many packets were published. */
uint64_t gate_pass(struct gate *gate);

#endif
