/* Names, opens and commits the files of an export that needs several. */
#include "format/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/gzip.h"

struct part {
	struct output output;
	char *path;
};

/* The path of the next part, to be freed: PATH, or the part's number before the extension. */
static char *name_part(const struct parts *parts)
{
	const char *packed = gzip_is_name(parts->path) ? ".gz" : "";
	const char *extension = parts->extension;
	size_t stem = strlen(parts->path) - strlen(packed);
	size_t tail = strlen(extension);
	char *path;

	if (parts->count == 0)
		return strdup(parts->path);
	if (stem > tail && strncmp(parts->path + stem - tail, extension, tail) == 0)
		stem -= tail;
	else
		extension = "";
	if (asprintf(&path, "%.*s.%zu%s%s", (int)stem, parts->path, parts->count + 1, extension,
		     packed) < 0)
		return NULL;
	return path;
}

int parts_open(struct parts *parts, FILE **ret_file)
{
	struct part *rows = realloc(parts->rows, (parts->count + 1) * sizeof(*rows));
	char *path = rows ? name_part(parts) : NULL;
	int code;

	if (rows)
		parts->rows = rows;
	if (!path)
		return dagtap_error_set(&parts->error, -ENOMEM, "%s: out of memory", parts->path);
	code = output_open(&rows[parts->count].output, path, parts->force, &parts->error);
	if (code < 0) {
		free(path);
		return code;
	}
	rows[parts->count].path = path;
	*ret_file = rows[parts->count++].output.file;
	return 0;
}

static void release(struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		free(parts->rows[i].path);
	free(parts->rows);
	parts->rows = NULL;
	parts->count = 0;
}

int parts_commit(struct parts *parts, struct dagtap_error *error)
{
	int code = 0;

	for (size_t i = 0; i < parts->count; i++) {
		if (code < 0)
			output_abandon(&parts->rows[i].output);
		else
			code = output_commit(&parts->rows[i].output, error);
	}
	release(parts);
	return code;
}

void parts_abandon(struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		output_abandon(&parts->rows[i].output);
	release(parts);
}
