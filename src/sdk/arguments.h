/* Arguments of calls of HIP, RCCL and roctx as the interface has them: a C struct for each
 * function, with the parameters in their order, made of the words that the injected library gives.
 * Any thread. */
#ifndef DAGTAP_SDK_ARGUMENTS_H
#define DAGTAP_SDK_ARGUMENTS_H

#include <stddef.h>
#include <stdint.h>

#define SDK_ARGUMENTS 16 /* more than any function has */

/* What a parameter is, and where it is in the struct. */
struct sdk_argument {
	uint8_t kind; /* index into the kinds of arguments.c */
	uint8_t offset;
};

struct sdk_arguments {
	uint8_t count;
	struct sdk_argument at[SDK_ARGUMENTS];
};

/* The arguments of a function with these PARAMETERS (sdk/names.h), which take BYTES at most. */
void arguments_learn(const char *parameters, size_t bytes, struct sdk_arguments *ret_arguments);

/* Fills RET_ARGS, which is zeroed, of the WORDS of a call. Structs by value that the words do not
 * have (handles for other processes) are left out. */
void arguments_fill(const struct sdk_arguments *arguments, const uint64_t *words, void *ret_args);

#endif
