/* The observer that libdagpatch provides for dagtap; this program defines the functions of
 * libdagtap. */
#include <stdlib.h>
#include <string.h>

#include <dagtap/annotate.h>

#include "suite.h"

static struct {
	char text[32];
	struct {
		char key[32];
		uint64_t number;
		char text[32];
	} attributes[8];
	size_t count;
	uint32_t pushes, pops;
} seen;

__attribute__((visibility("default"))) uint64_t
dagtap_scope_push_with(const char *text, const struct dagtap_attribute *attributes, size_t count)
{
	seen.pushes++;
	seen.count = count;
	strncpy(seen.text, text, sizeof(seen.text) - 1);
	assert_true(count <= 8);
	for (size_t i = 0; i < count; i++) {
		strncpy(seen.attributes[i].key, attributes[i].key, 31);
		if (attributes[i].kind == DAGTAP_ATTRIBUTE_TEXT)
			strncpy(seen.attributes[i].text, attributes[i].value.text, 31);
		else
			seen.attributes[i].number = attributes[i].value.uint64;
	}
	return 1;
}

__attribute__((visibility("default"))) void dagtap_scope_pop(void)
{
	seen.pops++;
}

static size_t find(const char *key)
{
	for (size_t i = 0; i < seen.count; i++) {
		if (strcmp(seen.attributes[i].key, key) == 0)
			return i;
	}
	return seen.count;
}

static uint64_t number(const char *key)
{
	assert_true(find(key) < seen.count);
	return seen.attributes[find(key)].number;
}

/* Each change that a launch applies is reported as a scope with its attributes; a first launch
 * changes nothing. */
static void a_change_is_a_closed_scope(void **state)
{
	const struct dagpatch_options options = {.size = sizeof(options),
						 .driver = "model",
						 .strategy = DAGPATCH_SET_PARAMS,
						 .observe = dagpatch_observe_in_trace};
	void *stream = suite_bed->stream_create();
	uint32_t *a = buffer(1), *b = buffer(2), slots[2];
	struct dagpatch_recording *recording;
	struct dagpatch_context *context;

	memset(&seen, 0, sizeof(seen));
	OK(NULL, dagpatch_context_create(&options, &context, NULL));
	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	slots[0] = slot(recording, "first");
	slots[1] = slot(recording, "second");
	add_three(recording, BED_ADD, (uint32_t[]){slots[0], slots[1], slots[1]}, NULL);
	OK(recording, dagpatch_finalize(recording));
	bind(recording, slots[0], a);
	bind(recording, slots[1], a);
	OK(recording, dagpatch_launch(recording, stream));
	assert_int_equal(seen.pushes, 0);
	bind(recording, slots[1], b);
	OK(recording, dagpatch_launch(recording, stream));
	suite_bed->stream_synchronize(stream);
	assert_int_equal(seen.pushes, 2);
	assert_int_equal(seen.pops, 2);
	assert_string_equal(seen.text, "dagpatch");
	assert_int_equal(number("recording"), (uintptr_t)recording);
	assert_int_equal(number("slot"), slots[1]);
	assert_int_equal(number("node"), 0);
	assert_int_equal(number("byte"), 16);
	assert_int_equal(number("old_address"), (uintptr_t)a);
	assert_int_equal(number("new_address"), (uintptr_t)b);
	assert_string_equal(seen.attributes[find("strategy")].text, "set_params");
	assert_true(find("ns") < seen.count);
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	suite_bed->stream_destroy(stream);
	buffer_free(a);
	buffer_free(b);
}

/* A change by way of the table concerns no single node, so the scope has no node and no byte. */
static void the_table_has_no_node(void **state)
{
	const struct dagpatch_change change = {.node = DAGPATCH_NONE,
					       .byte = DAGPATCH_NONE,
					       .slot = 3,
					       .strategy = DAGPATCH_DEVICE_TABLE,
					       .ns = 77};

	memset(&seen, 0, sizeof(seen));
	dagpatch_observe_in_trace(NULL, &change);
	assert_int_equal(seen.pushes, 1);
	assert_int_equal(number("slot"), 3);
	assert_int_equal(number("ns"), 77);
	assert_int_equal(find("node"), seen.count);
	assert_int_equal(find("byte"), seen.count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_is_a_closed_scope),
		cmocka_unit_test(the_table_has_no_node),
	};

	int failed;

	suite_bed = &bed_model;
	suite_bed->open();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	suite_bed->close();
	return failed;
}
