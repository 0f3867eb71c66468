/* The life of CUDA graphs: steps as CUPTI's resource callbacks tell of them, on the thread that makes
 * them, with the scope that it is in. What graph it comes to is worked out after the run (trace/). */
#ifndef DAGTAP_CAPTURE_CUDA_GRAPHS_H
#define DAGTAP_CAPTURE_CUDA_GRAPHS_H

#include "capture/cuda/cuda_params.h"
#include "vendor/cupti_types.h"

void cuda_graphs_begin(void); /* a recording starts: launches are counted anew */
void cuda_graphs_told(enum cupti_resource step, const struct cupti_graph_data *data);

/* When a call that added a node of any kind has returned: the graphs that the node holds. */
void cuda_graphs_added(const struct cuda_added *added);
void cuda_graphs_switched(uint64_t cid, const struct cupti_set_enabled_params *params);
void cuda_graphs_launch(uint64_t cid, const struct cupti_graph_launch_params *params);

/* Launches that were numbered and brought nothing, in this recording. */
void cuda_graphs_launch_failed(void);
uint64_t cuda_graphs_failed_launches(void);

#endif
