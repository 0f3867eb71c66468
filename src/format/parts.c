/* Names, opens and commits the files of an export that needs several. */
#include "format/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
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
	if (asprintf(&path, "%.*s.%" PRIu32 "%s%s", (int)stem, parts->path, parts->count + 1,
		     extension, packed) < 0)
		return NULL;
	return path;
}

static int check_inputs(struct parts *parts, const char *path)
{
	int err = 0;

	for (uint32_t i = 0; i < parts->inputs_count && err == 0; i++)
		err = keep_input_check(path, &parts->inputs[i], &parts->error);
	return err;
}

int parts_open(struct parts *parts, FILE **ret_file)
{
	char *path = name_part(parts);
	struct part *part =
		path ? table_add((void **)&parts->rows, &parts->count, sizeof(*part)) : NULL;
	int code;

	if (part) {
		part->path = path;
		code = check_inputs(parts, path);
		if (code == 0)
			code = output_open(&part->output, path, parts->force, parts->way,
					   &parts->error);
	} else {
		code = dagtap_error_set(&parts->error, -ENOMEM, "%s: out of memory", parts->path);
	}
	if (code < 0) {
		free(path);
		parts->count -= part != NULL;
		return code;
	}
	*ret_file = part->output.file;
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
