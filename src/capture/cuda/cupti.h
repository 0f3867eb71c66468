/* CUPTI's functions, found when they are needed: in the library that the process has, or else in the
 * one that DAGTAP_CUPTI names or the loader finds. Nothing of CUDA is linked.
 *
 * Filled once, by the thread that starts the first recording; read by all afterwards. */
#ifndef DAGTAP_CAPTURE_CUDA_CUPTI_H
#define DAGTAP_CAPTURE_CUDA_CUPTI_H

#include <stdbool.h>
#include <stddef.h>

#include "vendor/cupti_types.h"

struct cupti {
	uint32_t version;
#define X(result_name, name, parameters) uint32_t(*result_name) parameters;
	CUPTI_FUNCTIONS(X)
	CUPTI_OPTIONAL_FUNCTIONS(X) /* NULL where CUPTI has none */
#undef X
};

extern struct cupti cupti;

/* 0, or -ENOENT, -ENOSYS or -EOPNOTSUPP with the reason as a sentence. Again: at once. */
int cupti_load(char *ret_reason, size_t reason_bytes);

/* "cuptiSubscribe: CUPTI error 39 (...)" */
void cupti_describe(const char *call, uint32_t result, char *ret_text, size_t text_bytes);

#endif
