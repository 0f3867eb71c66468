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

/* Returns the XSpace, whose bytes the case's end frees. OPTIONS may be NULL. */
static inline struct message write_xspace_with(struct scene *scene,
					       const struct format_options *options)
{
	struct dagtap_error error = {.message = ""};
	struct message space;
	char *bytes;
	FILE *out = open_memstream(&bytes, &space.size);

	assert_non_null(out);
	assert_int_equal(format_xspace.write(&scene->trace, out, options, &error), 0);
	assert_int_equal(fclose(out), 0);
	space.bytes = keep(bytes, free);
	xspace_check(&space);
	return space;
}

static inline struct message write_xspace(struct scene *scene)
{
	return write_xspace_with(scene, NULL);
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
