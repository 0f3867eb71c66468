/* cmocka comes before the header, whose inline function uses its assertions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "record/attribute.h"
#include "scope_story.h"

static void tell_attributes(FILE *out, const struct record_scope *scope)
{
	const struct record_attribute *attribute = NULL;

	while ((attribute = record_attribute_next(scope, attribute))) {
		double number;

		fprintf(out, " %.*s=", (int)attribute->key_bytes, attribute->bytes);
		memcpy(&number, &attribute->value, sizeof(number));
		if (attribute->kind == RECORD_ATTRIBUTE_INT64)
			fprintf(out, "i%lld", (long long)attribute->value);
		else if (attribute->kind == RECORD_ATTRIBUTE_UINT64)
			fprintf(out, "u%llu", (unsigned long long)attribute->value);
		else if (attribute->kind == RECORD_ATTRIBUTE_DOUBLE)
			fprintf(out, "d%g", number);
		else
			fprintf(out, "\"%.*s\"", (int)attribute->text_bytes,
				attribute->bytes + attribute->key_bytes);
	}
}

static void tell_scopes(const struct spool_reader *reader, FILE *out)
{
	struct spool_cursor cursor;
	struct spool_record record;

	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record)) {
			const struct record_scope *s = (const void *)record.header;
			const struct record_scope_end *e = (const void *)record.header;
			unsigned long long mask = 0xffffffff;

			if (record.type == RECORD_SCOPE) {
				fprintf(out, "%llu:%llu %llu %u %.*s",
					(unsigned long long)s->id >> 48,
					(unsigned long long)s->id & mask,
					(unsigned long long)s->parent & mask, s->header.tag,
					(int)s->text_bytes, s->text);
				tell_attributes(out, s);
				fputc('\n', out);
			} else if (record.type == RECORD_SCOPE_END) {
				fprintf(out, "-%llu\n", (unsigned long long)e->id & mask);
			}
		}
	}
}

void assert_scopes_of(const struct spool_reader *reader, const char *expected)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	tell_scopes(reader, out);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	fixture_assert_sound(reader);
}

void assert_scopes(const struct fixture *fixture, void (*body)(void), const char *expected)
{
	struct spool_reader *reader;

	assert_int_equal(in_child(fixture->folder, body), 0);
	reader = fixture_read(fixture);
	assert_scopes_of(reader, expected);
	spool_reader_close(reader);
}
