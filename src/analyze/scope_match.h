/* Whether a scope is meant by what the user wrote: a text, a name, or a pattern of the shell. */
#ifndef DAGTAP_ANALYZE_SCOPE_MATCH_H
#define DAGTAP_ANALYZE_SCOPE_MATCH_H

#include <stdbool.h>

#include "trace/trace_model.h"

/* Whether SCOPE is an interval of time: not a mark, not of a file that gives no times. */
bool scope_is_interval(const struct trace_scope *scope);

/* Whether TEXT is PATTERN, or matches it as fnmatch() does: "token *". */
bool text_matches(const char *text, const char *pattern);

/* Whether the text or the name of SCOPE is PATTERN, or matches it. */
bool scope_matches(const struct trace *trace, const struct trace_scope *scope, const char *pattern);

/* Writes the text of SCOPE into BUFFER, of SCOPE_GROUP_CHARS bytes, with '*' for each run of
 * digits: scopes that differ in numbers alone have one name then ("step 12" is "step *"). A longer
 * name is cut. Returns BUFFER. */
#define SCOPE_GROUP_CHARS 256
const char *scope_group_name(const struct trace *trace, const struct trace_scope *scope,
			     char *buffer);

/* Writes into BUFFER, of SCOPE_PATTERN_CHARS bytes, the pattern that the scopes of the group called
 * NAME match: '*' stays, other special characters of patterns stand for themselves. Returns
 * BUFFER. */
#define SCOPE_PATTERN_CHARS (2 * SCOPE_GROUP_CHARS + 2)
const char *scope_group_pattern(const char *name, char *buffer);

#endif
