/* Opens Kineto files that a test has written out: kineto_opened.h. */
#include "kineto_opened.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/kineto/kineto_reader.h"

char kineto_message[1024];

struct trace *kineto_open_bytes(const void *bytes, size_t size)
{
	const struct read_file file = {"made.json", bytes, size};
	struct dagtap_error error = {.message = ""};
	struct trace *trace;
	int result = kineto_open(&file, NULL, &trace, &error);

	snprintf(kineto_message, sizeof(kineto_message), "%s", error.message);
	if (result < 0) {
		assert_string_not_equal(kineto_message, "");
		return NULL;
	}
	return read_keep(trace);
}

struct trace *kineto_open_text(const char *text)
{
	char *quoted = strdup(text);
	struct trace *trace;

	for (char *at = quoted; (at = strchr(at, '\'')); at++)
		*at = '"';
	trace = kineto_open_bytes(quoted, strlen(quoted));
	free(quoted);
	return trace;
}

struct trace *kineto_open_members(const char *head, const char *const *rows, const char *tail)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct trace *trace;

	fprintf(file, "{%s'traceEvents': [", head);
	for (size_t i = 0; rows[i]; i++)
		fprintf(file, "%s%s", i ? ",\n" : "", rows[i]);
	fprintf(file, "]%s}", tail);
	fclose(file);
	trace = kineto_open_text(text);
	free(text);
	if (!trace)
		fail_msg("%s", kineto_message);
	return trace;
}
