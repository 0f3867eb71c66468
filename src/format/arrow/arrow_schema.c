/* The schema of a table: Arrow's formats, and units as metadata. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/arrow/arrow.h"

#define METADATA_ROOM 256

/* The private data of a schema. */
struct schema_parts {
	struct ArrowSchema *children; /* owned, as are the two below */
	struct ArrowSchema **pointers;
	struct ArrowSchema *dictionary;
	char metadata[METADATA_ROOM];
	size_t metadata_bytes;
};

const char *arrow_format(const struct table_column *column)
{
	static const char *const formats[] = {
		[TABLE_BOOL] = "b",   [TABLE_INT32] = "i",  [TABLE_INT64] = "l",
		[TABLE_UINT32] = "I", [TABLE_UINT64] = "L", [TABLE_DOUBLE] = "g",
		[TABLE_NAME] = "u",   [TABLE_TEXT] = "u",
	};

	return formats[column->type];
}

static void release_schema(struct ArrowSchema *schema)
{
	struct schema_parts *parts = schema->private_data;

	for (int64_t i = 0; i < schema->n_children; i++) {
		if (schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
	}
	if (parts->dictionary && parts->dictionary->release)
		parts->dictionary->release(parts->dictionary);
	free(parts->children);
	free(parts->pointers);
	free(parts->dictionary);
	free(parts);
	schema->release = NULL;
}

/* Makes a schema without children and metadata. FORMAT and NAME are static. */
static int make_plain(const char *format, const char *name, struct ArrowSchema *schema)
{
	struct schema_parts *parts = calloc(1, sizeof(*parts));

	if (!parts)
		return -ENOMEM;
	*schema = (struct ArrowSchema){
		.format = format,
		.name = name,
		.flags = ARROW_FLAG_NULLABLE,
		.release = release_schema,
		.private_data = parts,
	};
	return 0;
}

static void put_metadata(struct schema_parts *parts, const void *bytes, size_t count)
{
	memcpy(parts->metadata + parts->metadata_bytes, bytes, count);
	parts->metadata_bytes += count;
}

/* Adds a pair to the metadata: the number of pairs, then each key and value with its length in
 * front, all int32. KEY and VALUE are constants of the tables, which fit. */
static void add_metadata(struct ArrowSchema *schema, const char *key, const char *value)
{
	struct schema_parts *parts = schema->private_data;
	int32_t count = 0, bytes;

	if (parts->metadata_bytes == 0)
		parts->metadata_bytes = sizeof(count);
	memcpy(&count, parts->metadata, sizeof(count));
	count++;
	memcpy(parts->metadata, &count, sizeof(count));
	bytes = (int32_t)strlen(key);
	put_metadata(parts, &bytes, sizeof(bytes));
	put_metadata(parts, key, (size_t)bytes);
	bytes = (int32_t)strlen(value);
	put_metadata(parts, &bytes, sizeof(bytes));
	put_metadata(parts, value, (size_t)bytes);
	schema->metadata = parts->metadata;
}

static int make_column(const struct table_column *column, struct ArrowSchema *schema)
{
	bool is_name = column->type == TABLE_NAME;
	struct schema_parts *parts;

	if (make_plain(is_name ? "i" : arrow_format(column), column->name, schema) < 0)
		return -ENOMEM;
	if (column->unit)
		add_metadata(schema, "unit", column->unit);
	if (!is_name)
		return 0;
	parts = schema->private_data;
	parts->dictionary = calloc(1, sizeof(*parts->dictionary));
	if (!parts->dictionary || make_plain(arrow_format(column), "", parts->dictionary) < 0)
		return -ENOMEM;
	schema->dictionary = parts->dictionary;
	return 0;
}

static int make_columns(const struct arrow_stream *stream, struct ArrowSchema *schema)
{
	struct schema_parts *parts = schema->private_data;

	parts->children = calloc(stream->columns_count, sizeof(*parts->children));
	parts->pointers = calloc(stream->columns_count, sizeof(struct ArrowSchema *));
	if (!parts->children || !parts->pointers)
		return -ENOMEM;
	schema->children = parts->pointers;
	for (uint32_t i = 0; i < stream->columns_count; i++) {
		parts->pointers[i] = &parts->children[i];
		schema->n_children = i + 1;
		if (make_column(stream->columns[i].column, &parts->children[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

int arrow_make_schema(const struct arrow_stream *stream, struct ArrowSchema *ret_schema)
{
	struct ArrowSchema schema;
	char version[16];

	if (make_plain("+s", "", &schema) < 0)
		return -ENOMEM;
	schema.flags = 0;
	snprintf(version, sizeof(version), "%d", TABLES_VERSION);
	add_metadata(&schema, "dagtap.table", stream->table->name);
	add_metadata(&schema, "dagtap.tables_version", version);
	if (make_columns(stream, &schema) < 0) {
		schema.release(&schema);
		return -ENOMEM;
	}
	/* The metadata is in the private data, so the struct may be moved. */
	*ret_schema = schema;
	return 0;
}
