/* Rows of a trace as text, to compare windows of a recording with the whole of it. */
#ifndef DAGTAP_TESTS_LIVE_ROW_LINES_H
#define DAGTAP_TESTS_LIVE_ROW_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace_model.h"

/* Lines; zero is an empty list. */
struct rows {
	char **lines;
	uint32_t count;
	/* Set by the caller. */
	bool has_nodes; /* lines tell the graph nodes of activities */
	bool is_cuda;	/* a recording of CUDA: lines of activities alone, without their calls */
};

/* Adds a line for each call, activity and memory operation of TRACE: all that live/live.h says is
 * the same in a window. Asserts that there is memory. */
void rows_add(struct rows *rows, const struct trace *trace);

/* Asserts that both have the same lines, in any order. Prints the first ones that differ. */
void rows_assert_same(struct rows *left, struct rows *right);

/* Frees the lines and makes the list empty. */
void rows_release(struct rows *rows);

#endif
