/* The life of CUDA graphs: writes each step that CUPTI's resource callbacks report, with the
 * call and scope in which it happens. src/trace/cuda makes graphs of the steps after the run.
 *
 * Threading: each function but cuda_graphs_begin runs on the thread that makes the step or the
 * call. */
#ifndef DAGTAP_CAPTURE_CUDA_GRAPHS_H
#define DAGTAP_CAPTURE_CUDA_GRAPHS_H

#include "capture/cuda/cuda_params.h"
#include "vendor/cupti_types.h"

/* A recording starts: counts launches from 0. */
void cuda_graphs_begin(void);
/* A callback of CUPTI's about a graph: CALLBACK is its number, DATA the struct that comes with
 * it. */
void cuda_graphs_told(enum cupti_resource callback, const struct cupti_graph_data *data);

/* After a call that has added a node of any kind: writes which graphs the node holds. The call
 * has succeeded. */
void cuda_graphs_added(const struct cuda_added *added);
/* After a successful call CID that has enabled or disabled a node of an exec. */
void cuda_graphs_switched(uint64_t cid, const struct cupti_set_enabled_params *params);
/* After a successful call that has set the event of a node of an exec: writes an update, if CUPTI
 * has told none within the call. */
void cuda_graphs_event_set(const struct cupti_set_event_params *params);
/* When the launch CID of an executable graph is entered: numbers the replay and writes
 * GRAPH_LAUNCH. */
void cuda_graphs_launch(uint64_t cid, const struct cupti_graph_launch_params *params);

/* A launch has failed, or was captured, after it was numbered. */
void cuda_graphs_launch_failed(void);
/* Returns the number of such launches in this recording. */
uint64_t cuda_graphs_failed_launches(void);

#endif
