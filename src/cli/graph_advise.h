/* dagtap graph --advise. */
#ifndef DAGTAP_CLI_GRAPH_ADVISE_H
#define DAGTAP_CLI_GRAPH_ADVISE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/model.h"

struct graph_advise_query {
	const struct trace *trace;
	const char *path;
	uint64_t graph; /* id, 0 = all */
	bool is_json;
};

/* Returns a cli_exit. */
int graph_advise(const struct graph_advise_query *query);

#endif
