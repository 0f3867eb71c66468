/* What the files of hip_scenes.c share. A scene returns its program's exit status. */
#ifndef TESTS_CAPTURE_HIP_HIP_SCENES_H
#define TESTS_CAPTURE_HIP_HIP_SCENES_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

extern int roctxRangePushA(const char *message) __attribute__((weak));
extern int roctxRangePop(void) __attribute__((weak));

/* Print a line "NAME VALUE", for the test. */
static inline void say(const char *name, uint64_t value)
{
	printf("%s %" PRIx64 "\n", name, value);
}

static inline void say_pointer(const char *name, const void *pointer)
{
	say(name, (uintptr_t)pointer);
}

/* ---- hip_memory_scenes.c ---- */

/* One allocation by each function that this release carries out, and what fails. The addresses are
 * said in the order of the calls. */
int allocations(void);

/* An allocation on a stream that is being captured. */
int captured_memory(void);

/* Allocates and releases at random, in scopes "layer 0" to "layer 4" and on two streams. */
int held_memory(void);

/* Memory of each kind of each device; the last one is reset. Says of each what HIP still knows. */
int device_reset(void);

#endif
