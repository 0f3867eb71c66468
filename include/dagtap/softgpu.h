/* For programs that run on the software GPU: host functions that compute what a kernel would.
 *
 * A kernel is run by the exported function softgpu_kernel_<name> of the program (link it with
 * -rdynamic), or by one that was registered here; <name> is the kernel's symbol without ".kd".
 * Without either, a dispatch takes its modelled time, computes nothing and is counted.
 *
 * These functions are exported by the software GPU's libhsa-runtime64.so.1 only. Declare them weak,
 * or look them up with dlsym, in a program that also runs on other runtimes. Any thread may call
 * them; a registration takes a lock and may allocate. */
#ifndef DAGTAP_SOFTGPU_H
#define DAGTAP_SOFTGPU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DAGTAP_SOFTGPU_API __attribute__((visibility("default")))
#else
#define DAGTAP_SOFTGPU_API
#endif

struct hsa_kernel_dispatch_packet_s;

/* Runs one whole dispatch, on a thread of the device. KERNARG is a private copy of the arguments
 * with every device address made usable on the host; PACKET a copy of the packet. Both are valid
 * during the call only. */
typedef void (*softgpu_kernel_fn)(const void *kernarg,
				  const struct hsa_kernel_dispatch_packet_s *packet);

/* Binds FUNCTION to the kernel NAME, for later dispatches too of modules that are loaded already.
 * FUNCTION must stay loaded. A NULL function removes the binding. 0, -EINVAL or -ENOMEM. */
DAGTAP_SOFTGPU_API int softgpu_kernel_register(const char *name, softgpu_kernel_fn function);

/* Copies up to CAPACITY counters and, unless NULL, their names; returns how many there are.
 * Values only grow. Cost: one load a counter. */
DAGTAP_SOFTGPU_API uint32_t softgpu_counters(uint64_t *ret_values, const char **ret_names,
					     uint32_t capacity);

/* Checks a configuration string ("gfx906,gpus=2,kernel_ns=5000"). 0, or -EINVAL with one line in
 * RET_MESSAGE. */
DAGTAP_SOFTGPU_API int softgpu_config_check(const char *string, char *ret_message,
					    size_t message_bytes);

/* The keys of the configuration string, one line each, NUL-terminated; returns the length that the
 * whole text has (as snprintf). */
DAGTAP_SOFTGPU_API size_t softgpu_config_help(char *ret_text, size_t text_bytes);

#ifdef __cplusplus
}
#endif
#endif
