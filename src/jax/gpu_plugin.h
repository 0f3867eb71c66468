/* The profiler of XLA's plugin for GPUs, which JAX registers beside ours: keeps its events of the
 * host in a profile whose tracer of GPUs does not start.
 *
 * The plugin has a copy of XLA with a recorder of host events of its own: allocations of device
 * memory, executions, HLO protos. Its profiler starts this recorder and XLA's tracer of GPUs
 * together. If the tracer fails, because dagtap has CUPTI or there is no rocprofiler-sdk, the
 * profiler's start fails, and XLA drops the host events, too.
 *
 * Source: plugin_tracer_impl.cc and device_tracer_cuda.cc of openxla/xla. */
#ifndef DAGTAP_JAX_GPU_PLUGIN_H
#define DAGTAP_JAX_GPU_PLUGIN_H

#include "jax/pjrt_profiler.h"

/* Finds the plugin among the process's libraries, unless it was found before, and guards its
 * profiler with gpu_plugin_guard_api. Any thread. Costs some us for each library until the plugin
 * has been found. */
void gpu_plugin_guard(void (*before_start)(void));

/* Guards the profiler of API, a PJRT_Api of another library: its table gets another `create`, which
 * makes a profiler without the tracer of GPUs if one with it does not start. It tries this at once,
 * while XLA creates the profilers of a profile, and calls BEFORE_START before: a profiler that XLA
 * would start earlier has to start there, to have CUPTI first. Does nothing if API has no profiler
 * or is no plugin for GPUs, if its table cannot be written, or if another one is guarded. Returns
 * whether API is guarded. Any thread. */
int gpu_plugin_guard_api(const struct pjrt_api *api, void (*before_start)(void));

#endif
