/*
 * The HSA side of raw-driver apart from packets: choosing the GPU, memory that host and GPU may
 * write, and the loaded kernel. One thread. A function that fails ends the program.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stddef.h>
#include <stdint.h>

#define HSA_CHECK(call) hsa_check((call), #call, __FILE__, __LINE__)

struct device {
	hsa_agent_t cpu;
	hsa_agent_t gpu;
	hsa_amd_memory_pool_t shared_pool; /* fine grained; may hold kernel arguments */
	hsa_executable_t executable;
	uint64_t kernel_object;
	uint32_t group_bytes;
	uint32_t private_bytes;
};

/* Prints the message on stderr and exits with 1. */
__attribute__((noreturn, format(printf, 1, 2))) void driver_fail(const char *format, ...);

/* Ends the program with a message if STATUS is an error. Use HSA_CHECK. */
void hsa_check(hsa_status_t status, const char *call, const char *file, int line);

/* Chooses the GPU for device_open, counted from 0 in the runtime's order; the default is 0. */
void device_choose(uint32_t gpu);

/*
 * device_open calls hsa_init, finds the agents and loads the kernel `ticket`; device_close releases
 * all of it and ends with hsa_shut_down.
 */
void device_open(struct device *ret_device);
void device_close(struct device *device);

/*
 * Allocates zeroed memory that the GPU may read and write; free it with hsa_amd_memory_pool_free.
 */
void *device_allocate(const struct device *device, size_t bytes);

#endif
