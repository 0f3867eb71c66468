/* The list of tables. */
#include "format/tables/tables.h"

#include <string.h>

#include "base/table.h"
#include "wire/utf8.h"

static const struct table *const tables[] = {
#define X(name, help) &table_##name,
	TABLES(X)
#undef X
};

const struct format_table table_names[] = {
#define X(name, help) {#name, help},
	TABLES(X)
#undef X
		{0},
};

const struct table *table_at(size_t index)
{
	return index < sizeof(tables) / sizeof(tables[0]) ? tables[index] : NULL;
}

const struct table *table_find(const char *name)
{
	const struct table *table;

	for (size_t i = 0; (table = table_at(i)); i++) {
		if (!name || strcmp(table->name, name) == 0)
			return table;
	}
	return NULL;
}

const struct table_column *table_find_column(const struct table *table, const char *name)
{
	for (uint32_t i = 0; i < table->columns_count; i++) {
		if (strcmp(table->columns[i].name, name) == 0)
			return &table->columns[i];
	}
	return NULL;
}

void table_reader_init(struct table_reader *reader, const struct trace *trace)
{
	*reader = (struct table_reader){
		.trace = trace,
		.path.scope = TRACE_NONE,
		.launch_path.scope = TRACE_NONE,
		.graph_process = TRACE_NONE,
	};
	for (uint32_t i = 0; i < TABLE_OCCUPANCIES; i++)
		reader->occupancies[i].work = TRACE_NONE;
}

const char *table_utf8(const char *text, struct table_buffer *buffer)
{
	size_t bytes = strlen(text);
	char *to;

	if (utf8_valid(text, bytes))
		return text;
	if (table_reserve((void **)&buffer->text, &buffer->room, bytes * UTF8_REPLACEMENT_BYTES + 1,
			  1) < 0)
		return NULL;
	to = buffer->text;
	while (bytes > 0) {
		size_t length = utf8_character(text, bytes);
		size_t taken = length ? length : 1;

		memcpy(to, length ? text : UTF8_REPLACEMENT,
		       length ? length : UTF8_REPLACEMENT_BYTES);
		to += length ? length : UTF8_REPLACEMENT_BYTES;
		text += taken;
		bytes -= taken;
	}
	*to = '\0';
	return buffer->text;
}
