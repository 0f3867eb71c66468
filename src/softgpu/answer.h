/* Answers of HSA's *_get_info functions: an attribute's value is copied into the caller's memory,
 * which may be unaligned and must have room for the type that HSA gives for the attribute. Each
 * function returns HSA_STATUS_SUCCESS, so that a function can return its result. Any thread. */
#ifndef SOFTGPU_ANSWER_H
#define SOFTGPU_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <hsa/hsa.h>

static inline hsa_status_t answer(void *value, const void *from, size_t bytes)
{
	memcpy(value, from, bytes);
	return HSA_STATUS_SUCCESS;
}

static inline hsa_status_t answer_u16(void *value, uint16_t number)
{
	return answer(value, &number, sizeof(number));
}

static inline hsa_status_t answer_u32(void *value, uint32_t number)
{
	return answer(value, &number, sizeof(number));
}

static inline hsa_status_t answer_u64(void *value, uint64_t number)
{
	return answer(value, &number, sizeof(number));
}

static inline hsa_status_t answer_bool(void *value, bool truth)
{
	return answer(value, &truth, sizeof(truth));
}

#endif
