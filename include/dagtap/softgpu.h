/* For programs that run on the software GPU: host functions that compute what a kernel would.
 *
 * A kernel is run by the exported function softgpu_kernel_<name> of the program (link it with
 * -rdynamic), or by one that was registered here; <name> is the kernel's symbol without ".kd".
 * Without either, a dispatch takes its modelled time, computes nothing and is counted.
 *
 * These functions are exported by the software GPU's libhsa-runtime64.so.1 only. Declare them weak,
 * or look them up with dlsym, in a program that also runs on other runtimes. What the machine is and
 * how it is configured: docs/softgpu.md.
 *
 * Threading: any thread may call any of them at any time, before hsa_init too.
 * Cost: a registration takes a lock and may allocate; the others do neither.
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

/* Runs one whole dispatch (all its work-items), on the thread of the queue it came by: two queues may
 * run the same function at once. KERNARG is a private copy of the arguments, laid out as the code
 * object's metadata says and not aligned beyond 64 bytes, with every device address made usable on
 * the host; PACKET is a copy of the packet (HSA Platform System Architecture 1.2, section 2.9).
 * Both belong to the caller and are valid during the call only. The dispatch ends when the function
 * has returned and the modelled time is over. The function may call HSA, but must not wait for
 * work of its own queue. */
typedef void (*softgpu_kernel_fn)(const void *kernarg,
				  const struct hsa_kernel_dispatch_packet_s *packet);

/* Binds FUNCTION to the kernel NAME (copied; the symbol without ".kd", mangled if the kernel's is),
 * for later dispatches too of modules that are loaded already. It comes before an exported function
 * of that name. FUNCTION must stay loaded. A NULL function removes the binding.
 * 0, -EINVAL (no name) or -ENOMEM. */
DAGTAP_SOFTGPU_API int softgpu_kernel_register(const char *name, softgpu_kernel_fn function);

/* Copies up to CAPACITY counters (RET_VALUES) and their names (RET_NAMES: constant strings, never
 * freed); either may be NULL. Returns how many there are. What each counts: docs/softgpu.md. Values
 * only grow and are read one by one, so two of them need not be of one moment.
 * Cost: one relaxed load a counter. */
DAGTAP_SOFTGPU_API uint32_t softgpu_counters(uint64_t *ret_values, const char **ret_names,
					     uint32_t capacity);

/* Blocks until the counter named COUNTER is VALUE or more. 0, or -EINVAL: there is no such counter.
 * Any thread but one of the device's own (a host function's). Cost: while somebody waits, each count
 * is a system call more. */
DAGTAP_SOFTGPU_API int softgpu_await(const char *counter, uint64_t value);

/* ---- for tests: what the device does next is the caller's to say ----
 *
 * A test makes a state with these instead of hoping for a moment: "packets are in the ring and none was
 * taken" is softgpu_take_hold and a doorbell; "a kernel is running" is softgpu_clock_hold, a doorbell and
 * softgpu_await("packets_kernel_dispatch", 1). One thread of the program at a time may use them. */

/* No queue takes a packet and no engine begins a copy from now on; what was taken goes on. What a queue or an
 * engine is just about to take it may still take. */
DAGTAP_SOFTGPU_API void softgpu_take_hold(void);

/* While that is held: lets COUNT more packets and copies be taken, of whichever queue comes first. 0, or -EPERM:
 * it is not held. */
DAGTAP_SOFTGPU_API int softgpu_take_step(uint32_t count);

DAGTAP_SOFTGPU_API void softgpu_take_release(void);

/* The device's time stands still: what runs does not end, and what begins now has begun now. The time is
 * also HSA_SYSTEM_INFO_TIMESTAMP, but timeouts of waits for signals go on; it is shared with libdagtap-inject.so where DAGTAP_CLOCK names a page
 * (docs/softgpu.md). */
DAGTAP_SOFTGPU_API void softgpu_clock_hold(void);

/* Moves a held clock on by NS. What ends by then ends at its modelled time, some time after this call has returned:
 * wait for it by its signal or by softgpu_await. 0, or -EPERM: it is not held. */
DAGTAP_SOFTGPU_API int softgpu_clock_step(uint64_t ns);

/* It runs on from where it stands. */
DAGTAP_SOFTGPU_API void softgpu_clock_release(void);

/* Checks a configuration string ("gfx906,gpus=2,kernel_ns=5000") and applies nothing: the device reads
 * DAGTAP_SOFTGPU. 0, or -EINVAL with one line, NUL-terminated and cut after MESSAGE_BYTES, in
 * RET_MESSAGE (may be NULL). */
DAGTAP_SOFTGPU_API int softgpu_config_check(const char *string, char *ret_message,
					    size_t message_bytes);

/* The keys of the configuration string with their defaults, one line each, NUL-terminated and cut
 * after TEXT_BYTES; returns the length that the whole text has, as snprintf. */
DAGTAP_SOFTGPU_API size_t softgpu_config_help(char *ret_text, size_t text_bytes);

#ifdef __cplusplus
}
#endif
#endif
