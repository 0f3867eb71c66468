/* Executable graphs: their ids, launches and updates. Writes the records GRAPH_EXEC,
 * GRAPH_EXEC_UPDATE, GRAPH_EXEC_GONE and GRAPH_LAUNCH.
 *
 * Threading: any thread, as far as HIP itself allows it for one executable graph. Execs are
 * looked up without a lock; instantiating and destroying take one. */
#ifndef DAGTAP_CAPTURE_HIP_GRAPH_EXEC_H
#define DAGTAP_CAPTURE_HIP_GRAPH_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/hip/hip_wrapped_call.h"

/* Hooks of hooks.c; see struct hip_hook. All "after" hooks do nothing for a call that failed,
 * unless said otherwise.
 *
 * hipGraphInstantiate and its variants: reads the graph from the runtime, gives the exec an id. */
void graph_exec_instantiated(struct hip_call *call, int result, const uint64_t *args);
/* hipGraphLaunch, before the call: numbers the replay and writes GRAPH_LAUNCH. Writes the exec
 * first if the session's trace does not have it yet. */
void graph_exec_launching(struct hip_call *call, const uint64_t *args);
/* hipGraphExec...NodeSetParams and ...SetEvent: writes the node's new parameters. */
void graph_exec_params_set(struct hip_call *call, int result, const uint64_t *args);
/* hipGraphExecChildGraphNodeSetParams: writes the new parameters of the child's nodes. If the given
 * graph has another shape, a NOTE says that some nodes may have been updated. */
void graph_exec_child_set(struct hip_call *call, int result, const uint64_t *args);
/* hipGraphExecUpdate; after a failure a NOTE says that some nodes may have been updated. */
void graph_exec_updated(struct hip_call *call, int result, const uint64_t *args);
/* hipGraphExecDestroy, before the call: takes the exec out of the map. */
void graph_exec_going(struct hip_call *call, const uint64_t *args);
/* hipGraphExecDestroy, after the call: frees the exec, or keeps it if the call has failed. */
void graph_exec_gone(struct hip_call *call, int result, const uint64_t *args);
/* hipGraphNodeSetEnabled. */
void graph_exec_node_switched(struct hip_call *call, int result, const uint64_t *args);

/* Returns whether the process has ever enabled or disabled a node of an exec: a recording that
 * begins later does not have the calls that did it. */
bool graph_exec_has_switched(void);

/* In a fork child: forgets all execs, since HIP does not survive a fork. */
void graph_exec_reset(void);

#endif
