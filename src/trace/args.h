/* Arguments of a call by name. */
#ifndef DAGTAP_TRACE_ARGS_H
#define DAGTAP_TRACE_ARGS_H

#include "trace/model.h"

/* Index into trace.api_args of the API's argument NAME, or TRACE_NONE. */
uint32_t args_find(const struct trace *trace, const struct trace_api *api, const char *name);

/* The argument's first word. False if the call carries no such argument. */
bool args_get(const struct trace *trace, const struct trace_call *call, const char *name,
	      uint64_t *ret_value);

#endif
