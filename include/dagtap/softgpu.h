/* For programs that run on the software GPU: host functions that compute the results of kernels,
 * the device's counters, and control of the device by tests.
 *
 * The host function of a kernel is the program's exported function softgpu_kernel_<name> (link the
 * program with -rdynamic), or a function that softgpu_kernel_register binds; <name> is the kernel's
 * symbol without ".kd". A dispatch of a kernel without a host function takes its modelled time,
 * computes nothing, and is counted.
 *
 * Only the software GPU's libhsa-runtime64.so.1 exports these functions. A program that also runs
 * on other runtimes must declare them weak, or look them up with dlsym. docs/softgpu.md describes
 * the software GPU and its configuration.
 *
 * Threading: any thread may call any function at any time, also before hsa_init. The functions for
 * tests and softgpu_await have further rules, which are stated there.
 * Cost: a registration takes a lock and may allocate memory; softgpu_await sleeps; the other
 * functions do neither.
 * Errors: a negative errno. A call with an invalid argument changes nothing. */
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

/* A host function: computes one whole dispatch (all its work-items). The thread of the dispatch's
 * queue calls it, so two queues may run the same function at the same time. KERNARG is a private
 * copy of the arguments, in the layout of the code object's metadata and aligned to 64 bytes; every
 * device address in it was replaced by an address that the host can use. PACKET is a copy of the
 * packet (HSA Platform System Architecture 1.2, section 2.9). Both belong to the caller and are
 * valid during the call only. The dispatch ends when the function has returned and the modelled
 * time is over. The function may call HSA, but must not wait for work of its own queue. */
typedef void (*softgpu_kernel_fn)(const void *kernarg,
				  const struct hsa_kernel_dispatch_packet_s *packet);

/* Binds FUNCTION to the kernel NAME: the symbol without ".kd", mangled if the kernel's symbol is
 * mangled. NAME is copied. The binding also applies to later dispatches of kernels that are already
 * loaded, and replaces the exported function of that name. FUNCTION must stay loaded. A NULL
 * FUNCTION removes the binding. Returns 0, -EINVAL (NULL or empty NAME) or -ENOMEM. */
DAGTAP_SOFTGPU_API int softgpu_kernel_register(const char *name, softgpu_kernel_fn function);

/* Copies at most CAPACITY counters: their values to RET_VALUES, their names to RET_NAMES (constant
 * strings, never freed). Either array may be NULL. Returns how many counters exist; 0 when the
 * device is configured with counters=0. docs/softgpu.md says what each one counts. A value only
 * grows. The values are read one after the other, so they are not a snapshot of one moment.
 * Cost: one relaxed load for each counter. */
DAGTAP_SOFTGPU_API uint32_t softgpu_counters(uint64_t *ret_values, const char **ret_names,
					     uint32_t capacity);

/* Called by a host function: makes its kernel fault because of an access to ADDRESS, where no
 * memory is. After the host function has returned, the dispatch does not complete, its queue takes
 * no more packets, and the memory fault is reported as ROCr reports it: the handlers of
 * hsa_amd_register_system_event_handler are called, and if none of them accepts the fault the
 * process aborts. */
DAGTAP_SOFTGPU_API void softgpu_memory_fault(const void *address);

/* Blocks until the counter named COUNTER is at least VALUE. Returns 0, or -EINVAL when no counter
 * has that name. If COUNTER and VALUE reach the point of the configuration key hold_at, the call
 * returns after the hold is in effect, so that the caller can release it. Any thread of the program
 * may call this, but not a host function. Cost: while a thread waits, the device makes one system
 * call each time it counts. */
DAGTAP_SOFTGPU_API int softgpu_await(const char *counter, uint64_t value);

/* ---- for tests: control of the device ----
 *
 * With these functions a test creates a state of the device and does not depend on timing. For the
 * state "packets are in the ring and none was taken": call softgpu_take_hold, then ring the
 * doorbell. For the state "a kernel is running": call softgpu_clock_hold, ring the doorbell, and
 * call softgpu_await("packets_kernel_dispatch", 1). Only one thread at a time may call them. */

/* Holds the taking of work: from now on no queue takes a packet and no engine starts a copy. Work
 * that was taken before continues. A queue or an engine that has already decided to take a packet
 * or a copy may still take it. */
DAGTAP_SOFTGPU_API void softgpu_take_hold(void);

/* While the taking of work is held: allows COUNT more packets and copies in total, of any queues
 * and engines. Returns 0, or -EPERM when taking is not held. */
DAGTAP_SOFTGPU_API int softgpu_take_step(uint32_t count);

/* Ends the hold of softgpu_take_hold, or of hold_at: queues and engines take work again. Does
 * nothing when taking is not held. */
DAGTAP_SOFTGPU_API void softgpu_take_release(void);

/* Stops the device's clock: running work does not end, and work that starts has the held time as
 * its start. HSA_SYSTEM_INFO_TIMESTAMP stops too; the timeouts of waits for signals do not. If
 * DAGTAP_CLOCK names a file (docs/softgpu.md), the clock of libdagtap-inject.so stops as well. */
DAGTAP_SOFTGPU_API void softgpu_clock_hold(void);

/* Moves a held clock forward by NS. Work whose modelled end is then in the past ends soon after
 * this call returns, with its modelled end as its end time: wait for its signal or use
 * softgpu_await. Returns 0, or -EPERM when the clock is not held. */
DAGTAP_SOFTGPU_API int softgpu_clock_step(uint64_t ns);

/* Lets the clock run again, from the held time. Does nothing when the clock is not held. */
DAGTAP_SOFTGPU_API void softgpu_clock_release(void);

/* With the key "schedule": says that the calling thread waits for the device in a way that the
 * device does not see, for example by reading memory in a loop. The device considers the program
 * idle until it submits work or changes a signal, without the 20 ms that it waits otherwise. May be
 * called by any thread of the program, each time round the loop, but not by a host function. Cost:
 * a lock; one load without a schedule. */
DAGTAP_SOFTGPU_API void softgpu_program_waits(void);

/* Checks a configuration string ("gfx90a,gpus=2,kernel_ns=5000") without applying it: the device
 * itself reads DAGTAP_SOFTGPU. Returns 0, or -EINVAL. In the latter case RET_MESSAGE, unless NULL,
 * receives one line that tells the cause, NUL-terminated and cut to MESSAGE_BYTES; a NULL STRING is
 * -EINVAL without a message. */
DAGTAP_SOFTGPU_API int softgpu_config_check(const char *string, char *ret_message,
					    size_t message_bytes);

/* Writes the keys of the configuration string with their defaults to RET_TEXT, one line for each
 * key, NUL-terminated and cut to TEXT_BYTES. Returns the length of the whole text, as snprintf
 * does; RET_TEXT may be NULL to ask for it. */
DAGTAP_SOFTGPU_API size_t softgpu_config_help(char *ret_text, size_t text_bytes);

#ifdef __cplusplus
}
#endif
#endif
