/* Arguments of a call by name. Cost: a text comparison per argument of the API. */
#ifndef DAGTAP_TRACE_ARGS_H
#define DAGTAP_TRACE_ARGS_H

#include "trace/trace_model.h"

/* Index into trace.api_args of the API's argument NAME, or TRACE_NONE. */
uint32_t args_find(const struct trace *trace, const struct trace_api *api, const char *name);

/* Sets *RET_VALUE to the first word of CALL's argument NAME. False, with *RET_VALUE untouched, if
 * the API has no such argument or the call's arguments were not kept. */
bool args_get(const struct trace *trace, const struct trace_call *call, const char *name,
	      uint64_t *ret_value);

#endif
