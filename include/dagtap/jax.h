/* libdagtap-jax.so: a plugin of XLA's profiler, for JAX. It is loaded, not linked: JAX gets the
 * pointer that this function returns in a capsule, as the module dagtap.jax of the Python package
 * does (docs/jax.md).
 *
 * Threading: any thread. Cost: some us for each library of the process. */
#ifndef DAGTAP_JAX_H
#define DAGTAP_JAX_H

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a PJRT_Api that has a profiler extension and nothing else. A capsule with the name
 * "pjrt_c_api" and this pointer is what register_plugin_profiler of jaxlib takes. Static: the
 * library must stay loaded. Never NULL.
 *
 * Also changes the profiler of XLA's plugin for GPUs, if it is loaded: if its tracer of GPUs does
 * not start, a profile keeps the plugin's events of the host. */
const void *dagtap_jax_pjrt_api(void);

#ifdef __cplusplus
}
#endif

#endif
