/* Arguments of a call by name. Cost: a text comparison per argument of the API. */
#ifndef DAGTAP_TRACE_ARGS_H
#define DAGTAP_TRACE_ARGS_H

#include "record/record.h"
#include "trace/trace_model.h"

/* Index into trace.api_args of the API's argument NAME, or TRACE_NONE. */
uint32_t args_find(const struct trace *trace, const struct trace_api *api, const char *name);

/* The position of argument NAME among the words of the API's records, or ARGS_NO_WORD. */
#define ARGS_NO_WORD UINT8_MAX
uint8_t args_word(const struct trace *trace, const struct trace_api *api, const char *name);

/* The word at a position (args_word) of the call's record; 0 if the record does not have it. */
static inline uint64_t args_word_at(const struct record_api *record, uint8_t word)
{
	return word < record->header.words - sizeof(*record) / 8 ? record->args[word] : 0;
}

/* Sets *RET_VALUE to the first word of CALL's argument NAME. False, with *RET_VALUE untouched, if
 * the API has no such argument or the call's arguments were not kept. */
bool args_get(const struct trace *trace, const struct trace_call *call, const char *name,
	      uint64_t *ret_value);

#endif
