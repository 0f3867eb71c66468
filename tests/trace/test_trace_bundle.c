/* The container: what was put in is read back, and a change of any byte is reported. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <xxhash.h>

#include "bundle_folder.h"
#include "trace/pack/bundle.h"
#include "trace/pack/bundle_layout.h"

static void write_bundle(bool force)
{
	const struct bundle_meta meta = {"1.2", "run \\ me\nnow", 77, 137, NULL};
	struct bundle_writer *writer;
	struct dagtap_error error;

	assert_int_equal(bundle_create(bundle_path, force, &writer, &error), 0);
	assert_int_equal(bundle_put_meta(writer, &meta, &error), 0);
	assert_int_equal(bundle_put_spool(writer, 10, "first spool", 11, &error), 0);
	assert_int_equal(bundle_put_spool(writer, 11, "", 0, &error), 0);
	assert_int_equal(bundle_put_spool(writer, 12, bundle_path, 64, &error), 0);
	assert_int_equal(bundle_finish(writer, &error), 0);
}

static void everything_comes_back(void **state)
{
	struct bundle bundle;
	struct dagtap_error error;

	write_bundle(true);
	assert_int_equal(bundle_open(bundle_path, &bundle, &error), 0);
	assert_int_equal(bundle.section_count, 4);
	assert_string_equal(bundle.meta.version, "1.2");
	assert_string_equal(bundle.meta.command, "run \\ me\nnow");
	assert_int_equal(bundle.meta.start_ns, 77);
	assert_int_equal(bundle.meta.exit_status, 137);
	assert_int_equal(bundle.sections[1].pid, 10);
	assert_int_equal(bundle.sections[1].size, 11);
	assert_memory_equal(bundle.sections[1].bytes, "first spool", 11);
	assert_int_equal(bundle.sections[2].size, 0);
	assert_int_equal(bundle.sections[3].size, 64);
	bundle_close(&bundle);
}

static void existing_file_is_not_replaced_unasked(void **state)
{
	struct bundle_writer *writer;
	struct dagtap_error error;

	write_bundle(true);
	assert_int_equal(bundle_create(bundle_path, false, &writer, &error), -EEXIST);
	assert_non_null(strstr(error.message, bundle_path));
}

static void file_that_appeared_meanwhile_is_not_replaced(void **state)
{
	const struct bundle_meta meta = {"1.2", "other", 77, 0, NULL};
	struct bundle_writer *writer;
	struct dagtap_error error;
	struct bundle bundle;

	unlink(bundle_path);
	assert_int_equal(bundle_create(bundle_path, false, &writer, &error), 0);
	assert_int_equal(bundle_put_meta(writer, &meta, &error), 0);
	write_bundle(true);
	assert_int_equal(bundle_finish(writer, &error), -EEXIST);
	assert_int_equal(bundle_open(bundle_path, &bundle, &error), 0);
	assert_string_equal(bundle.meta.command, "run \\ me\nnow");
	bundle_close(&bundle);
}

static void abandoned_file_leaves_nothing(void **state)
{
	struct bundle_writer *writer;
	struct dagtap_error error;

	unlink(bundle_path);
	assert_int_equal(bundle_create(bundle_path, false, &writer, &error), 0);
	bundle_abandon(writer);
	bundle_abandon(NULL);
	assert_int_equal(rmdir(bundle_folder), 0);
	assert_int_equal(mkdir(bundle_folder, 0700), 0);
}

static unsigned char *read_file(size_t *ret_size)
{
	unsigned char *bytes = malloc(65536);
	int fd = open(bundle_path, O_RDONLY);
	ssize_t size = read(fd, bytes, 65536);

	close(fd);
	assert_true(size > 0);
	*ret_size = (size_t)size;
	return bytes;
}

static void expect_refused(const void *bytes, size_t size)
{
	/* Ends where its allocation ends, so that a read behind it is detected. */
	unsigned char *copy = malloc(size ? size : 1);
	struct dagtap_error error = {0};
	struct bundle bundle;

	memcpy(copy, bytes, size);
	assert_true(bundle_open_memory("name", copy, size, &bundle, &error) < 0);
	assert_int_equal(strncmp(error.message, "name: offset ", 13), 0);
	assert_null(strchr(error.message, '\n'));
	free(copy);
}

static void every_flipped_bit_is_found(void **state)
{
	size_t size;
	unsigned char *bytes;

	write_bundle(true);
	bytes = read_file(&size);
	for (size_t i = 0; i < size; i++) {
		for (int bit = 0; bit < 8; bit++) {
			bytes[i] ^= (unsigned char)(1 << bit);
			expect_refused(bytes, size);
			bytes[i] ^= (unsigned char)(1 << bit);
		}
	}
	free(bytes);
}

static void every_cut_and_every_addition_is_found(void **state)
{
	size_t size;
	unsigned char *bytes;

	write_bundle(true);
	bytes = read_file(&size);
	for (size_t i = 0; i < size; i++)
		expect_refused(bytes, i);
	bytes[size] = 0;
	expect_refused(bytes, size + 1);
	free(bytes);
}

/* The format that dagtap wrote before it packed: only the version number differs. */
static void version_1_is_read(void **state)
{
	struct bundle_header *header;
	struct dagtap_error error;
	struct bundle bundle;
	unsigned char *bytes;
	size_t size;

	write_bundle(true);
	bytes = read_file(&size);
	header = (struct bundle_header *)bytes;
	header->version = 1;
	header->header_checksum =
		XXH3_64bits(header, offsetof(struct bundle_header, header_checksum));
	assert_int_equal(bundle_open_memory("name", bytes, size, &bundle, &error), 0);
	assert_int_equal(bundle.section_count, 4);
	bundle_close(&bundle);
	header->version = BUNDLE_VERSION + 1;
	header->header_checksum =
		XXH3_64bits(header, offsetof(struct bundle_header, header_checksum));
	assert_int_equal(bundle_open_memory("name", bytes, size, &bundle, &error), -ENOTSUP);
	free(bytes);
}

static void write_packed(void)
{
	const struct bundle_meta meta = {"1.2", "me", 77, 0, NULL};
	struct bundle_writer *writer;
	struct dagtap_error error;

	assert_int_equal(bundle_create(bundle_path, true, &writer, &error), 0);
	assert_int_equal(bundle_put_meta(writer, &meta, &error), 0);
	assert_int_equal(bundle_begin_section(writer, BUNDLE_PACKED, 10, &error), 0);
	assert_int_equal(bundle_append(writer, "in three", 8, &error), 0);
	assert_int_equal(bundle_append(writer, "", 0, &error), 0);
	assert_int_equal(bundle_append(writer, " pieces", 7, &error), 0);
	assert_int_equal(bundle_end_section(writer, &error), 0);
	assert_int_equal(bundle_put_spool(writer, 11, "behind", 6, &error), 0);
	assert_int_equal(bundle_finish(writer, &error), 0);
}

/*
 * The content of a packed section is checked by its own reader, everything around it by the
 * container's.
 */
static void packed_section_is_left_to_its_reader(void **state)
{
	struct dagtap_error error;
	struct bundle bundle;
	unsigned char *bytes;
	size_t size, at;

	write_packed();
	bytes = read_file(&size);
	assert_int_equal(bundle_open_memory("name", bytes, size, &bundle, &error), 0);
	assert_int_equal(bundle.sections[1].type, BUNDLE_PACKED);
	assert_int_equal(bundle.sections[1].pid, 10);
	assert_int_equal(bundle.sections[1].size, 15);
	assert_memory_equal(bundle.sections[1].bytes, "in three pieces", 15);
	at = bundle.sections[1].offset;
	assert_ptr_equal(bundle.sections[1].bytes, bytes + at);
	bundle_close(&bundle);
	for (size_t i = 0; i < size; i++) {
		bytes[i] ^= 4;
		if (i < at || i >= at + 15) {
			expect_refused(bytes, size);
		} else {
			assert_int_equal(bundle_open_memory("name", bytes, size, &bundle, &error),
					 0);
			bundle_close(&bundle);
		}
		bytes[i] ^= 4;
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_comes_back),
		cmocka_unit_test(existing_file_is_not_replaced_unasked),
		cmocka_unit_test(file_that_appeared_meanwhile_is_not_replaced),
		cmocka_unit_test(abandoned_file_leaves_nothing),
		cmocka_unit_test(every_flipped_bit_is_found),
		cmocka_unit_test(every_cut_and_every_addition_is_found),
		cmocka_unit_test(version_1_is_read),
		cmocka_unit_test(packed_section_is_left_to_its_reader),
	};

	return cmocka_run_group_tests(tests, bundle_folder_setup, bundle_folder_teardown);
}
