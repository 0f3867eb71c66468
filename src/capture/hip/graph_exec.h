/* Instantiated graphs: their ids, launches, updates. Writes GRAPH_EXEC, GRAPH_EXEC_UPDATE,
 * GRAPH_EXEC_GONE and GRAPH_LAUNCH.
 *
 * Execs are looked up without a lock; instantiating and destroying take one. Any thread, as far as
 * HIP itself allows it for one exec. */
#ifndef DAGTAP_CAPTURE_HIP_GRAPH_EXEC_H
#define DAGTAP_CAPTURE_HIP_GRAPH_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/hip/wrap.h"

/* Hooks. */
void graph_exec_instantiated(struct hip_call *call, int result, const uint64_t *args);
void graph_exec_launching(struct hip_call *call, const uint64_t *args);
void graph_exec_params_set(struct hip_call *call, int result, const uint64_t *args);
void graph_exec_child_set(struct hip_call *call, int result, const uint64_t *args);
void graph_exec_updated(struct hip_call *call, int result, const uint64_t *args);
void graph_exec_going(struct hip_call *call, const uint64_t *args);
void graph_exec_gone(struct hip_call *call, int result, const uint64_t *args);
void graph_exec_node_switched(struct hip_call *call, int result, const uint64_t *args);

/* Whether the process has ever switched a node of an exec on or off: a recording that begins later
 * does not have the calls that did it. */
bool graph_exec_has_switched(void);

void graph_exec_reset(void);

#endif
