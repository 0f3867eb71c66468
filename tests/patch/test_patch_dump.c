/* Dumps of a recording in both formats, compared with the files in dumps/ (rewritten with
 * DUMP_UPDATE set), and error messages that name kernel, argument and slot. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dagpatch/model.h>

#include "suite.h"

struct text {
	char bytes[16384];
	size_t length, writes, fails;
};

static int write_text(void *user, const char *bytes, size_t count)
{
	struct text *text = user;

	if (++text->writes == text->fails)
		return -ENOSPC;
	assert_true(text->length + count < sizeof(text->bytes));
	memcpy(text->bytes + text->length, bytes, count);
	text->length += count;
	text->bytes[text->length] = '\0';
	return 0;
}

/* Replaces addresses by ADDRESS, because they differ from run to run. */
static void hide_addresses(struct text *text)
{
	char *at = text->bytes;

	while ((at = strstr(at, "0x"))) {
		size_t digits = 2 + strspn(at + 2, "0123456789abcdef");
		char *rest = at + digits;

		assert_true(digits >= 7);
		memcpy(at, "ADDRESS", 7);
		memmove(at + 7, rest, strlen(rest) + 1);
		at += 7;
	}
	text->length = strlen(text->bytes);
}

static void expect_file(const struct text *text, const char *name)
{
	static char expected[sizeof(text->bytes)];
	char path[512];
	FILE *file;
	size_t count;

	snprintf(path, sizeof(path), "%s/%s", DUMPS, name);
	if (getenv("DUMP_UPDATE")) {
		file = fopen(path, "w");
		assert_non_null(file);
		assert_int_equal(fwrite(text->bytes, 1, text->length, file), text->length);
		assert_int_equal(fclose(file), 0);
	}
	file = fopen(path, "r");
	assert_non_null(file);
	count = fread(expected, 1, sizeof(expected) - 1, file);
	expected[count] = '\0';
	fclose(file);
	assert_string_equal(text->bytes, expected);
}

static void expect_dump(const struct dagpatch_recording *recording,
			enum dagpatch_dump_format format, const char *name)
{
	static struct text text;

	memset(&text, 0, sizeof(text));
	assert_int_equal(dagpatch_dump(recording, format, write_text, &text), 0);
	hide_addresses(&text);
	expect_file(&text, name);
}

static int record_mark(void *user, void *stream, void *const *addresses)
{
	uint32_t value = 5;

	return suite_bed->launch(stream, BED_MARK, 1, 1, (void *[]){(void *)&addresses[0], &value})
		       ? -EIO
		       : 0;
}

/* Records a = 3; c = a + b; mark kernels as captured work, in a nested recording and as work
 * that is captured again; a copy. */
static void record(struct scene *scene)
{
	struct dagpatch_recording *recording = scene->recording, *nested;
	uint32_t c = slot(recording, "c"), a = slot(recording, "a \"b\" \\"), node, next, inner;
	uint32_t b;
	struct dagpatch_capture capture = {
		.size = sizeof(capture), .record = record_mark, .slots = &c, .slot_count = 1};

	OK(recording, dagpatch_slot_add(recording, &DAGPATCH_SIZED(slot, .bytes = WORDS * 4), &b));
	OK(recording,
	   dagpatch_add_memset(recording,
			       &DAGPATCH_SIZED(memset, .slot = a, .offset = 16, .value = 3,
					       .element_bytes = 4, .width = 4),
			       NULL, &node));
	next = add_three(recording, BED_ADD, (uint32_t[]){c, a, b}, AFTER(node));
	OK(recording, dagpatch_add_captured(recording, &capture, AFTER(next), &next));
	OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &nested));
	inner = slot(nested, "inner");
	capture.slots = &inner;
	OK(nested, dagpatch_add_captured(nested, &capture, NULL, NULL));
	OK(nested, dagpatch_finalize(nested));
	OK(recording, dagpatch_add_child(recording,
					 &DAGPATCH_SIZED(child, nested,
							 (struct dagpatch_mapping[]){{c, 0}}, 1),
					 AFTER(next), &next));
	dagpatch_recording_destroy(nested);
	capture.slots = &c;
	capture.flags = DAGPATCH_RECAPTURE;
	OK(recording, dagpatch_add_captured(recording, &capture, AFTER(node, next), &next));
	OK(recording, dagpatch_add_copy(recording,
					&DAGPATCH_SIZED(copy, .dst = {.slot = b, .offset = 64},
							.src = {.slot = c}, .width_bytes = 32),
					AFTER(next), NULL));
}

static void dumps(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t *buffers[4] = {buffer(0), buffer(1), buffer(2), buffer(3)};

	record(scene);
	expect_dump(recording, DAGPATCH_DUMP_TEXT, "dump-recorded.txt");
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, i, buffers[i]);
	scene_run(scene);
	bind(recording, 1, buffers[3]);
	OK(recording, dagpatch_apply(recording));
	bind(recording, 2, buffers[1]);
	expect_dump(recording, DAGPATCH_DUMP_TEXT, "dump-changed.txt");
	expect_dump(recording, DAGPATCH_DUMP_GRAPHVIZ, "dump-changed.gv");
	OK(recording, dagpatch_revert(recording));
}

/* A dump ends with the error that the write callback returns. */
static void a_write_fails(void **state)
{
	static struct text text;
	struct scene *scene = *state;

	record(scene);
	for (enum dagpatch_dump_format format = 0; format < 2; format++) {
		size_t writes;

		memset(&text, 0, sizeof(text));
		assert_int_equal(dagpatch_dump(scene->recording, format, write_text, &text), 0);
		writes = text.writes;
		for (size_t fails = 1; fails <= writes; fails++) {
			text = (struct text){.fails = fails};
			assert_int_equal(dagpatch_dump(scene->recording, format, write_text, &text),
					 -ENOSPC);
			assert_int_equal(text.writes, fails);
		}
	}
	assert_int_equal(dagpatch_dump(scene->recording, 2, write_text, &text), -EINVAL);
}

/* When the driver cannot set a node, the error names the node and its slots. */
static void errors_name_kernel_and_slots(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t *buffers[5] = {buffer(0), buffer(1), buffer(2), buffer(3), buffer(4)};
	uint32_t slots[3] = {slot(recording, "c"), slot(recording, "a"), slot(recording, "kv")};

	add_three(recording, BED_ADD, slots, NULL);
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, i, buffers[i]);
	scene_run(scene);
	bind(recording, 1, buffers[3]);
	bind(recording, 2, buffers[4]);
	dagpatch_model_fail(1, 1);
	scene_failed(recording, dagpatch_apply(recording), -EIO,
		     "node 0 (kernel add): setting parameters for slot 1 (a), slot 2 (kv): ");
	dagpatch_model_fail(0, 0);
	OK(recording, dagpatch_revert(recording));
}

/* The last argument is an address in the second slot, or with OTHER in the first one. */
static int record_either(void *user, void *stream, void *const *addresses)
{
	const bool *is_other = user;
	uint32_t count = WORDS;

	return suite_bed->launch(stream, BED_ADD, 1, WORDS,
				 (void *[]){(void *)&addresses[0], (void *)&addresses[0],
					    (void *)&addresses[*is_other ? 0 : 1], &count})
		       ? -EIO
		       : 0;
}

static void errors_name_argument_and_slot(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t slots[2] = {slot(recording, "c"), slot(recording, "kv")};
	uint32_t *buffers[2] = {buffer(0), buffer(1)};
	bool is_other = false;

	OK(recording, dagpatch_add_captured(recording,
					    &DAGPATCH_SIZED(capture, .record = record_either,
							    .user = &is_other, .slots = slots,
							    .slot_count = 2),
					    NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, 0, buffers[0]);
	bind(recording, 1, buffers[1]);
	scene_run(scene);
	is_other = true;
	scene_failed(recording, dagpatch_verify(recording), -EILSEQ,
		     "node 1 (kernel add), argument 2");
	scene_failed(recording, dagpatch_verify(recording), -EILSEQ,
		     "slot 1 (kv): differs in a fresh capture");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(dumps),
		SCENE(a_write_fails),
		SCENE(errors_name_kernel_and_slots),
		SCENE(errors_name_argument_and_slot),
	};
	int failed;

	suite_bed = &bed_model;
	suite_strategy = DAGPATCH_SET_PARAMS;
	suite_bed->open();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	suite_bed->close();
	return failed;
}
