/* The registry of kernels by name: the host function of a kernel, and its modelled time. */
#ifndef SOFTGPU_KERNEL_H
#define SOFTGPU_KERNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <dagtap/softgpu.h>

struct blit;

/* The entry of a name. It is never freed, because a queue may hold a pointer to it. All fields but
 * FUNCTION are constant after the entry is in the registry. */
struct kernel_entry {
	_Atomic(softgpu_kernel_fn) function; /* NULL: no host function */
	uint64_t modelled_ns;
	bool is_blit;		   /* one of ROCclr's own kernels, by its name */
	const struct blit *blit;   /* how such a kernel is computed; NULL: cannot be computed */
	uint32_t hash;		   /* of the name */
	struct kernel_entry *next; /* in the hash bucket */
	char name[];
};

/* Returns the entry of NAME (without ".kd") and creates it if there is none; NULL when out of
 * memory. Does not look for an exported host function, so it does not need the dynamic loader's
 * lock. Any thread; lock-free when the entry exists. */
struct kernel_entry *kernel_find(const char *name);

/* Looks up the host function that the process exports for kernel NAME (dlsym), unless the kernel
 * has one. Called when a code object is loaded, on the loading thread, for each of its kernels. The
 * thread of a queue must not call this: the program may hold the dynamic loader's lock while it
 * waits for the device. */
void kernel_resolve(const char *name);

#endif
