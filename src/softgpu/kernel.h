/* Kernels by name: the host function that computes one, and the time that is modelled for it. */
#ifndef SOFTGPU_KERNEL_H
#define SOFTGPU_KERNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <dagtap/softgpu.h>

struct blit;

/* One entry a name, never freed: a queue may hold a pointer to it. */
struct kernel_entry {
	_Atomic(softgpu_kernel_fn) function; /* NULL: no host function */
	uint64_t modelled_ns;
	bool is_blit;		 /* one of ROCclr's own kernels */
	const struct blit *blit; /* one that can be computed here; else NULL */
	uint32_t hash;
	struct kernel_entry *next;
	char name[];
};

/* Finds or makes the entry. Does not look for a host function: any thread, no loader lock. NULL
 * when out of memory. */
struct kernel_entry *kernel_find(const char *name);

/* Called when a code object is loaded, on the loading thread, for each of its kernels: looks the
 * host function up in the process (dlsym). A processor thread must not do that: the program may
 * hold the dynamic loader's lock while it waits for the device. */
void kernel_resolve(const char *name);

#endif
