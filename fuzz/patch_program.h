/* A program of calls of libdagpatch on the model device, made of bytes: any calls in any order with
 * any arguments, wrong ones too, that a caller could make without lending memory that is not its
 * own. */
#ifndef FUZZ_PATCH_PROGRAM_H
#define FUZZ_PATCH_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

struct patch_program_result {
	uint32_t calls;	   /* of dagpatch */
	uint32_t accepted; /* of them: not an error */
	uint32_t launches;
};

/* Runs it from an empty device and leaves an empty device; aborts the process when something of
 * dagpatch's is left, when a call returns what no call returns, or when a replay outlived its
 * executable graph where that must not be. One thread at a time. */
struct patch_program_result patch_program_run(const uint8_t *bytes, size_t size);

#endif
