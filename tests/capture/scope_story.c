/* cmocka before the header, whose inline function asserts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "scope_story.h"

static void tell_scopes(const struct spool_reader *reader, char *ret_text, size_t size)
{
	struct spool_cursor cursor;
	struct spool_record record;
	size_t used = 0;

	ret_text[0] = '\0';
	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record)) {
			const struct record_scope *s = (const void *)record.header;
			const struct record_scope_end *e = (const void *)record.header;
			unsigned long long mask = 0xffffffff;

			if (record.type == RECORD_SCOPE)
				used += (size_t)snprintf(
					ret_text + used, size - used, "%llu:%llu %llu %u %.*s\n",
					(unsigned long long)s->id >> 48,
					(unsigned long long)s->id & mask,
					(unsigned long long)s->parent & mask, s->header.tag,
					(int)s->text_bytes, s->text);
			else if (record.type == RECORD_SCOPE_END)
				used += (size_t)snprintf(ret_text + used, size - used, "-%llu\n",
							 (unsigned long long)e->id & mask);
		}
	}
}

void assert_scopes(const struct fixture *fixture, void (*body)(void), const char *expected)
{
	struct spool_reader *reader;
	char text[4096];

	assert_int_equal(in_child(fixture->folder, body), 0);
	reader = fixture_read(fixture);
	tell_scopes(reader, text, sizeof(text));
	assert_string_equal(text, expected);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}
