/* For programs that run on the software GPU: host functions that compute what a kernel would.
 *
 * A kernel is run by the exported function softgpu_kernel_<name> of the program (link it with
 * -rdynamic), or by one that was registered here; <name> is the kernel's symbol without ".kd".
 * Without either, a dispatch takes its modelled time, computes nothing and is counted.
 *
 * These functions are exported by the software GPU's libhsa-runtime64.so.1 only. Declare them
 * weak, or look them up with dlsym, in a program that also runs on other runtimes. What the
 * machine is and how it is configured: docs/softgpu.md.
 *
 * Threading: any thread may call any of them at any time, before hsa_init too; those that are for
 * tests and softgpu_await say what else holds.
 * Cost: a registration takes a lock and may allocate; softgpu_await sleeps; the others do neither.
 * Errors: negative errno; a wrong argument changes nothing. */
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

/* Runs one whole dispatch (all its work-items), on the thread of the queue it came by: two
 * queues may run the same function at once. KERNARG is a private copy of the arguments, laid out
 * as the code object's metadata says and not aligned beyond 64 bytes, with every device address
 * made usable on the host; PACKET is a copy of the packet (HSA Platform System Architecture 1.2,
 * section 2.9). Both belong to the caller and are valid during the call only. The dispatch ends
 * when the function has returned and the modelled time is over. The function may call HSA, but
 * must not wait for work of its own queue. */
typedef void (*softgpu_kernel_fn)(const void *kernarg,
				  const struct hsa_kernel_dispatch_packet_s *packet);

/* Binds FUNCTION to the kernel NAME (copied; the symbol without ".kd", mangled if the kernel's is),
 * for later dispatches too of modules that are loaded already. It comes before an exported function
 * of that name. FUNCTION must stay loaded. A NULL function removes the binding.
 * 0, -EINVAL (no name) or -ENOMEM. */
DAGTAP_SOFTGPU_API int softgpu_kernel_register(const char *name, softgpu_kernel_fn function);

/* Copies up to CAPACITY counters (RET_VALUES) and their names (RET_NAMES: constant strings, never
 * freed); either may be NULL. Returns how many there are. What each counts: docs/softgpu.md. Values
 * only grow and are read one by one, so two of them need not be of one moment. 0 with counters=0.
 * Cost: one relaxed load a counter. */
DAGTAP_SOFTGPU_API uint32_t softgpu_counters(uint64_t *ret_values, const char **ret_names,
					     uint32_t capacity);

/* To be called by a host function: the kernel that it computes accesses ADDRESS, which is not
 * there. When it has returned the dispatch does not end, its queue takes nothing more, and the
 * memory fault is told as ROCr tells it: to the handlers of hsa_amd_register_system_event_handler,
 * and if none of them takes it the process aborts. */
DAGTAP_SOFTGPU_API void softgpu_memory_fault(const void *address);

/* Blocks until the counter named COUNTER is at least VALUE. 0, or -EINVAL when there is no such
 * counter. At the point of hold_at it returns when the hold is in place, so that the caller may
 * release it. From any thread of the program, not from a host function. Cost: while a thread waits,
 * every count of the device makes one system call. */
DAGTAP_SOFTGPU_API int softgpu_await(const char *counter, uint64_t value);

/* ---- for tests: control of the device ----
 *
 * With these calls a test creates a state instead of waiting for a moment. "Packets are in the
 * ring and none was taken": softgpu_take_hold, then a doorbell. "A kernel is running":
 * softgpu_clock_hold, a doorbell, and softgpu_await("packets_kernel_dispatch", 1). Called by one
 * thread at a time. */

/* From now on no queue takes a packet and no engine starts a copy; work that was taken
 * continues. A queue or an engine that has already decided to take one may still take it. */
DAGTAP_SOFTGPU_API void softgpu_take_hold(void);

/* While taking is held: allows COUNT more packets and copies, from any queue or engine. 0, or
 * -EPERM when taking is not held. */
DAGTAP_SOFTGPU_API int softgpu_take_step(uint32_t count);

DAGTAP_SOFTGPU_API void softgpu_take_release(void);

/* Stops the device's clock: running work does not end, and work that starts has the present time
 * as its start. HSA_SYSTEM_INFO_TIMESTAMP stops too; timeouts of waits for signals do not. Where
 * DAGTAP_CLOCK names a page (docs/softgpu.md) it is also the clock of libdagtap-inject.so. */
DAGTAP_SOFTGPU_API void softgpu_clock_hold(void);

/* Moves a held clock forward by NS. Work whose modelled end is then in the past ends, with its
 * modelled end as its time, soon after this call returns: wait for its signal or use
 * softgpu_await. 0, or -EPERM when the clock is not held. */
DAGTAP_SOFTGPU_API int softgpu_clock_step(uint64_t ns);

/* The clock runs again, from the held time. */
DAGTAP_SOFTGPU_API void softgpu_clock_release(void);

/* Checks a configuration string ("gfx90a,gpus=2,kernel_ns=5000") and applies nothing: the device
 * reads DAGTAP_SOFTGPU. 0, or -EINVAL with one line, NUL-terminated and cut after MESSAGE_BYTES,
 * in RET_MESSAGE (may be NULL). */
DAGTAP_SOFTGPU_API int softgpu_config_check(const char *string, char *ret_message,
					    size_t message_bytes);

/* The keys of the configuration string with their defaults, one line each, NUL-terminated and cut
 * after TEXT_BYTES; returns the length that the whole text has, as snprintf. */
DAGTAP_SOFTGPU_API size_t softgpu_config_help(char *ret_text, size_t text_bytes);

#ifdef __cplusplus
}
#endif
#endif
