/* Compares scopes with patterns (scope_match.h). */
#include "analyze/scope_match.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

bool scope_is_interval(const struct trace_scope *scope)
{
	return !scope->untimed && scope->kind != RECORD_SCOPE_MARK &&
	       scope->end_ns > scope->begin_ns;
}

bool text_matches(const char *text, const char *pattern)
{
	return !strcmp(text, pattern) || fnmatch(pattern, text, 0) == 0;
}

bool scope_matches(const struct trace *trace, const struct trace_scope *scope, const char *pattern)
{
	return text_matches(trace_text(trace, scope->text), pattern) ||
	       text_matches(trace_text(trace, scope->name), pattern);
}

const char *scope_group_name(const struct trace *trace, const struct trace_scope *scope,
			     char *buffer)
{
	const char *text = trace_text(trace, scope->text);
	size_t used = 0;

	while (*text && used < SCOPE_GROUP_CHARS - 1) {
		bool is_digit = isdigit((unsigned char)*text);

		buffer[used++] = (char)(is_digit ? '*' : *text);
		text++;
		while (is_digit && isdigit((unsigned char)*text))
			text++;
	}
	buffer[used] = '\0';
	return buffer;
}

const char *scope_group_pattern(const char *name, char *buffer)
{
	bool is_cut = strlen(name) >= SCOPE_GROUP_CHARS - 1;
	char *at = buffer;

	for (; *name; name++) {
		if (*name == '[' || *name == '?' || *name == '\\')
			*at++ = '\\';
		*at++ = *name;
	}
	if (is_cut)
		*at++ = '*';
	*at = '\0';
	return buffer;
}
