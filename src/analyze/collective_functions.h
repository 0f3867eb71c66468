/* What each function of NCCL and RCCL does, for collective_calls.c. */
#ifndef DAGTAP_ANALYZE_COLLECTIVE_FUNCTIONS_H
#define DAGTAP_ANALYZE_COLLECTIVE_FUNCTIONS_H

#include "analyze/collectives.h"

/* What a function does. KIND is COLLECTIVE_KIND_COUNT for functions that are no operation. */
enum collective_role {
	COLLECTIVE_ROLE_NONE,
	COLLECTIVE_ROLE_OPERATION,
	COLLECTIVE_ROLE_GROUP_START,
	COLLECTIVE_ROLE_GROUP_END,
	COLLECTIVE_ROLE_DESTROY
};

struct collective_function {
	enum collective_role role;
	enum collective_kind kind;
	bool is_part; /* its count is that of one of N parts */
	/* args_word of the arguments; ARGS_NO_WORD: it has no such argument. */
	uint8_t comm, count, datatype, rank, number, ranks, id;
};

/* Returns what API does, of which only functions of NCCL and RCCL have a role. */
struct collective_function collective_function_of(const struct trace *trace,
						  const struct trace_api *api);

#endif
