/* The option that says what the steps of a recording are, the same in every command that has it
 * (analyze/step_query.h), and what to offer where nothing says so. Threading: the main thread. */
#ifndef DAGTAP_CLI_STEP_OPTIONS_H
#define DAGTAP_CLI_STEP_OPTIONS_H

#include <stdio.h>

#include "analyze/step_query.h"
#include "cli/command_options.h"
#include "wire/json.h"

/* The row of a command's table of options; MEMBER of TYPE is a const char *, NULL: not given. */
#define STEP_OPTION(type, member)                                                                  \
	{                                                                                          \
		"step-of", .argument = "WHAT",                                                     \
			   .help = "take as steps: scopes, as in 'token *', or replays, as in "    \
				   "graph:4 or 'graph:*gemm*'",                                    \
			   .kind = OPTION_TEXT, OPTION_IN(type, member)                            \
	}

/* Makes the steps that QUERY means in TRACE, which was read from PATH; none if QUERY is NULL.
 * Returns CLI_OK, or CLI_FAILED after a message: also if nothing is a step then. */
int step_option_apply(const char *query, const char *path, struct trace *trace);

/* Prints what --step-of can take, "'token *' (32 scopes), graph:4 (20 replays)", if no scope of
 * TRACE is a step and anything repeats: BEFORE, the list, and a newline. */
void step_option_offer(const struct trace *trace, const char *before, FILE *out);

/* The same as the key "step_candidates": an array of "step_of" and "count". */
void step_option_put_json(struct json *json, const struct trace *trace);

#endif
