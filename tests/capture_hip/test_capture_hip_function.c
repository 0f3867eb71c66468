/* The kernel names table: names are registered early, written at the first use, and removed with
 * their module. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "capture/capture_session.h"
#include "capture/hip/function.h"
#include "record/spool_reader.h"

void __hipRegisterFunction(void **module, const void *stub, char *device_function,
			   const char *device_name, unsigned int thread_limit, void *tid, void *bid,
			   void *block_dim, void *grid_dim, int *warp_size);
void __hipUnregisterFatBinary(void **module);
int model_registered(void);

static char folder[TEST_PATH_BYTES];
static char names[8][32];
static size_t name_count;

static void add(uintptr_t module, uintptr_t stub, const char *name)
{
	__hipRegisterFunction((void **)module, (const void *)stub, NULL, name, 0, NULL, NULL, NULL,
			      NULL, NULL);
}

static int start(void **state)
{
	assert_non_null(mkdtemp(test_path(folder, "function")));
	setenv("DAGTAP_SPOOL", folder, 1);
	/* Register before the session starts, as constructors do. */
	add(1, 0x100, "first");
	add(1, 0x108, "second");
	add(2, 0x200, "other module");
	assert_int_equal(model_registered(), 3);
	return session_start() ? 0 : -1;
}

static void read_names(const char *path)
{
	struct spool_reader *reader;
	struct spool_cursor cursor;
	struct spool_record record;
	struct dagtap_error error;

	assert_int_equal(spool_reader_open(path, &reader, &error), 0);
	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record)) {
			const struct record_function *function = (const void *)record.header;

			if (record.type != RECORD_FUNCTION || name_count == 8)
				continue;
			snprintf(names[name_count++], sizeof(names[0]), "%llx %.*s",
				 (unsigned long long)function->handle, (int)record.header->tag,
				 function->name);
		}
	}
	spool_reader_close(reader);
}

static void read_spool(void)
{
	DIR *entries = opendir(folder);
	char path[2 * TEST_PATH_BYTES];

	assert_non_null(entries);
	for (struct dirent *entry; (entry = readdir(entries));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		read_names(path);
		unlink(path);
	}
	closedir(entries);
	rmdir(folder);
}

/* A name is written once and only when its function is used; an address that is registered again
 * after its module was unregistered gets the new name. */
static void names_by_use(void **state)
{
	char transient[] = "of a module";

	function_use(0x108);
	function_use(0x108);
	function_use(0x999);
	function_learn(0x300, transient);
	memset(transient, 'x', sizeof(transient) - 1);
	function_use(0x300);
	/* The same address for another kernel, after the first kernel's module was unregistered. */
	__hipUnregisterFatBinary((void **)1);
	assert_int_equal(model_registered(), 0);
	function_use(0x100);
	add(3, 0x100, "reborn");
	function_use(0x100);
	function_use(0x200);
	function_learn(0x300, "of another module");
	function_use(0x300);
	session_stop();

	read_spool();
	assert_int_equal(name_count, 5);
	assert_string_equal(names[0], "108 second");
	assert_string_equal(names[1], "300 of a module");
	assert_string_equal(names[2], "100 reborn");
	assert_string_equal(names[3], "200 other module");
	assert_string_equal(names[4], "300 of another module");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names_by_use)};

	return cmocka_run_group_tests(tests, start, NULL);
}
