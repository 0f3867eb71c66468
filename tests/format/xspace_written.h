/*
 * Writes a model as XSpace and checks it against the rules that hold for every XSpace file
 * (xspace_check); short assertions about stat values.
 */
#ifndef DAGTAP_TESTS_FORMAT_XSPACE_WRITTEN_H
#define DAGTAP_TESTS_FORMAT_XSPACE_WRITTEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/format.h"
#include "format/xspace/xspace.h"
#include "xspace_decode.h"
#include "xspace_scene.h"

struct written {
	struct message space;
	char *bytes;
};

static inline struct written write_xspace(const struct scene *scene)
{
	struct dagtap_error error = {.message = ""};
	struct written written = {0};
	size_t size = 0;
	FILE *out = open_memstream(&written.bytes, &size);

	assert_non_null(out);
	assert_int_equal(format_xspace.write(&scene->trace, out, NULL, &error), 0);
	assert_int_equal(fclose(out), 0);
	written.space = (struct message){(const uint8_t *)written.bytes, size};
	xspace_check(&written.space);
	return written;
}

static inline void written_release(struct written *written)
{
	free(written->bytes);
}

static inline void assert_number(struct xvalue value, enum xstat_field kind, uint64_t number)
{
	assert_int_equal(value.kind, kind);
	assert_int_equal(value.number, number);
}

static inline void assert_text(struct xvalue value, enum xstat_field kind, const char *text)
{
	assert_int_equal(value.kind, kind);
	assert_string_equal(value.text, text);
}

#endif
