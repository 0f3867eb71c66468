/* Which callbacks CUPTI is asked for. Each callback costs the program time, so the default is the
 * calls of vendor/cuda_selected.list, and DAGTAP_CALLS=all is every call of the runtime and the
 * driver. Of the resources' callbacks the same few are enabled in both cases: the lives of streams
 * and graphs, and the end of a module. CUPTI would bring one more for each kernel that is launched
 * (H200, CUDA 13.0).
 *
 * The choice is the process's: nothing is enabled or disabled while a recording is on, because
 * CUPTI then numbers the calls of threads that are inside of a call wrongly (docs/cuda.md). */
#ifndef DAGTAP_CAPTURE_CUDA_SELECTION_H
#define DAGTAP_CAPTURE_CUDA_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

/* Enables the callbacks of SUBSCRIBER. Returns CUPTI_OK, or CUPTI's error with the name of the
 * function that failed. Called by the thread that starts the session. */
uint32_t cuda_selection_enable(void *subscriber, const char **ret_function);

/* The same for cuProfilerStart and cuProfilerStop alone, which cudaProfilerStart and
 * cudaProfilerStop call: what a dormant process waits for. */
uint32_t cuda_selection_enable_profiler(void *subscriber);

/* The same for what a dormant process follows: the lives of graphs, and the calls of the driver
 * that build them (vendor/cuda_building.list). No launch and no update of an exec is among them. */
uint32_t cuda_selection_enable_graphs(void *subscriber);
/* Returns whether CBID, of the driver, is one of these calls. */
bool cuda_selection_is_building(uint32_t cbid);

/* Returns whether the call launches exactly one kernel. Valid after cuda_selection_enable; any
 * thread. */
bool cuda_selection_launches_kernel(uint32_t domain, uint32_t cbid);

#endif
