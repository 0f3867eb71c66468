/* Arguments of calls (see args.h). */
#include "trace/args.h"

#include <string.h>

uint32_t args_find(const struct trace *trace, const struct trace_api *api, const char *name)
{
	for (uint32_t i = 0; i < api->arg_count; i++) {
		if (!strcmp(trace_text(trace, trace->api_args[api->arg_first + i].name), name))
			return api->arg_first + i;
	}
	return TRACE_NONE;
}

uint8_t args_word(const struct trace *trace, const struct trace_api *api, const char *name)
{
	uint32_t arg = args_find(trace, api, name);

	return arg == TRACE_NONE ? ARGS_NO_WORD : trace->api_args[arg].word;
}

bool args_get(const struct trace *trace, const struct trace_call *call, const char *name,
	      uint64_t *ret_value)
{
	uint32_t arg = args_find(trace, &trace->apis[call->api], name);

	if (arg == TRACE_NONE || call->arg_first == TRACE_NONE)
		return false;
	*ret_value = trace->words[call->arg_first + trace->api_args[arg].word];
	return true;
}
