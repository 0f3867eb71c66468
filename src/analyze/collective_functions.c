/* What each function of NCCL and RCCL does, and the rates of operations. */
#include "analyze/collective_functions.h"

#include <ctype.h>
#include <string.h>

#include "trace/args.h"

static const struct {
	const char *function, *key;
	enum collective_factor factor;
	bool is_part;
} kinds[] = {
#define X(name, function, key, factor, is_part) {function, key, factor, is_part},
	COLLECTIVE_KINDS(X)
#undef X
};

const char *collective_kind_key(enum collective_kind kind)
{
	return kinds[kind].key;
}

double collective_algorithm_rate(uint64_t bytes, double ns)
{
	return ns > 0 ? (double)bytes * 1e9 / ns : 0;
}

double collective_bus_rate(enum collective_kind kind, uint32_t ranks, uint64_t bytes, double ns)
{
	double rate = collective_algorithm_rate(bytes, ns);
	double share = ranks ? (double)(ranks - 1) / ranks : 0;

	switch (kinds[kind].factor) {
	case COLLECTIVE_ONCE:
		return rate;
	case COLLECTIVE_SHARE:
		return rate * share;
	case COLLECTIVE_TWICE:
		return rate * 2 * share;
	case COLLECTIVE_NO_FACTOR:
		break;
	}
	return 0;
}

/* Copies NAME's part that says what the function does, in lower case. */
static void shorten(const char *name, char *ret_text, size_t size)
{
	static const char *const ends[] = {"config", "withbias"};
	size_t chars = 0;

	for (name += strlen("nccl"); *name && chars + 1 < size; name++)
		ret_text[chars++] = (char)tolower((unsigned char)*name);
	ret_text[chars] = '\0';
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t end = strlen(ends[i]);

		if (chars > end && !strcmp(ret_text + chars - end, ends[i]))
			ret_text[chars - end] = '\0';
	}
}

static enum collective_role role_of(const char *text)
{
	if (!strcmp(text, "groupstart"))
		return COLLECTIVE_ROLE_GROUP_START;
	if (!strcmp(text, "groupend"))
		return COLLECTIVE_ROLE_GROUP_END;
	if (!strcmp(text, "commdestroy") || !strcmp(text, "commabort"))
		return COLLECTIVE_ROLE_DESTROY;
	return COLLECTIVE_ROLE_NONE;
}

static uint8_t count_word(const struct trace *trace, const struct trace_api *api)
{
	static const char *const names[] = {"count", "sendcount", "recvcount"};
	uint8_t word = ARGS_NO_WORD;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && word == ARGS_NO_WORD; i++)
		word = args_word(trace, api, names[i]);
	return word;
}

struct collective_function collective_function_of(const struct trace *trace,
						  const struct trace_api *api)
{
	const char *name = trace_text(trace, api->name);
	struct collective_function function = {.kind = COLLECTIVE_KIND_COUNT};
	char text[32];

	if (api->domain != RECORD_DOMAIN_RCCL || strncmp(name, "nccl", strlen("nccl")) != 0)
		return function;
	shorten(name, text, sizeof(text));
	function.role = role_of(text);
	function.comm = args_word(trace, api, "comm");
	for (int kind = 0; kind < COLLECTIVE_KIND_COUNT; kind++) {
		if (strcmp(text, kinds[kind].function) != 0 || function.comm == ARGS_NO_WORD)
			continue;
		function.role = COLLECTIVE_ROLE_OPERATION;
		function.kind = (enum collective_kind)kind;
		function.is_part = kinds[kind].is_part;
	}
	function.count = count_word(trace, api);
	function.datatype = args_word(trace, api, "datatype");
	function.rank = args_word(trace, api, "rank");
	function.number = args_word(trace, api, "seq");
	function.ranks = args_word(trace, api, "nranks");
	function.id = args_word(trace, api, "commId");
	return function;
}
