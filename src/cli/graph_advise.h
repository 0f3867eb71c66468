/* `dagtap graph --advise`: shows which nodes are updated between replays. */
#ifndef DAGTAP_CLI_GRAPH_ADVISE_H
#define DAGTAP_CLI_GRAPH_ADVISE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace_model.h"

struct graph_advise_query {
	const struct trace *trace;
	const char *path; /* of the trace's file, for the output */
	uint64_t graph;	  /* id, 0 = all */
	bool is_json;
};

/* Prints the result on stdout. Returns a cli_exit. */
int graph_advise(const struct graph_advise_query *query);

#endif
