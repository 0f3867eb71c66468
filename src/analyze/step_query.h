/* The steps of a program, as the user asks for them: each instance of a scope, or each replay of a
 * graph. Also what repeats in a trace, and so may be a step. */
#ifndef DAGTAP_ANALYZE_STEP_QUERY_H
#define DAGTAP_ANALYZE_STEP_QUERY_H

#include "analyze/scope_match.h"
#include "trace/trace_model.h"

/* A query is a text, name or pattern of scopes (scope_match.h), or it is about graphs: "graph:N",
 * each replay of the graph with that id; "graph:*", each replay of any graph; "graph:NAME", each
 * replay of the graphs with a node, in a child graph too, whose kernel's name is NAME or matches it
 * as a pattern, or which was recorded in such a scope. Ids differ between runs, names do not. */
#define STEP_QUERY_GRAPH "graph:"

/* Makes steps (trace/steps.h) of what QUERY means: of the instances of the scopes, or of the
 * launches, in the order of time. Launches whose call is not in the trace are none. 0 or -ENOMEM;
 * RET_COUNT: the number of the steps. No other thread may read TRACE meanwhile. */
int step_query_apply(struct trace *trace, const char *query, uint32_t *ret_count);

/* The pattern that the steps of QUERY match as scopes. BUFFER has STEP_PATTERN_CHARS bytes. Returns
 * BUFFER or QUERY. */
#define STEP_PATTERN_CHARS 64
const char *step_query_pattern(const char *query, char *buffer);

/* Something that repeats. */
struct step_candidate {
	/* The query: "graph:N", or the pattern of a group of scopes. */
	char query[SCOPE_PATTERN_CHARS];
	uint32_t count; /* of scopes with GPU work, or of replays */
};

#define STEP_CANDIDATES 8 /* the most: as many scopes as graphs */

/* Finds groups of scopes (scope_groups.h) of which two at least caused timed activities, those with
 * the largest GPU projection in all first; then graphs that were replayed twice at least, those
 * with the most replays first. Writes them to CANDIDATES, of STEP_CANDIDATES rows. Returns their
 * number or -ENOMEM. Cost: that of the groups. */
int step_candidates_find(const struct trace *trace, struct step_candidate *candidates);

/* Chooses what to show as steps where the user does not say it: of the groups of scopes of which
 * three at least caused timed activities, that with the largest GPU projection in all; else, of the
 * graphs that were replayed three times at least, that with the longest activities in all. Writes
 * its query to QUERY, of SCOPE_PATTERN_CHARS bytes; "" if there is none. 0 or -ENOMEM. */
int step_query_choose(const struct trace *trace, char *query);

/* Whether QUERY is about graphs. */
bool step_query_is_about_graphs(const char *query);

/* The number of SCOPE as a step: its attribute "step_num", or that at the end of a text like
 * "step 12", "ProfilerStep#12", "train_12". False: it says of no step. */
bool step_number_find(const struct trace *trace, const struct trace_scope *scope,
		      uint64_t *ret_number);

/* Whether any scope has such a number. */
bool step_exists(const struct trace *trace);

#endif
