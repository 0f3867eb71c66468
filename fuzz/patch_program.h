/*
 * Interprets bytes as a program of libdagpatch calls on the model device: any calls in any order
 * with any arguments, also invalid ones, as long as a caller could pass them without pointing to
 * memory that is not its own.
 */
#ifndef FUZZ_PATCH_PROGRAM_H
#define FUZZ_PATCH_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

struct patch_program_result {
	uint32_t calls;	   /* calls of dagpatch */
	uint32_t accepted; /* calls that did not return an error */
	uint32_t launches;
};

/*
 * Runs the program on an empty device and leaves an empty device. Aborts the process when an object
 * of dagpatch remains, when a call returns a value that no call may return, or when a replay
 * outlives its executable graph where the driver forbids it. One thread at a time.
 */
struct patch_program_result patch_program_run(const uint8_t *bytes, size_t size);

#endif
