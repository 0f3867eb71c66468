/* What tests/run.sh gives a test: a folder for its files, removed when the test passes and kept when
 * it fails, and a seed for its random numbers. A test that is started by hand uses TMPDIR or /tmp,
 * removes its files itself, and has seed 1. */
#ifndef TESTS_LAUNCHED_H
#define TESTS_LAUNCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Enough for test_path() and, twice as much, for a file in such a folder. */
#define TEST_PATH_BYTES 512

/* Fills ret_path with the template of a name in the test's folder, for mkdtemp and mkstemp. */
static inline char *test_path(char ret_path[TEST_PATH_BYTES], const char *name)
{
	const char *folder = getenv("TMPDIR");

	snprintf(ret_path, TEST_PATH_BYTES, "%s/%s-XXXXXX", folder ? folder : "/tmp", name);
	return ret_path;
}

/* True: tests/run.sh removes the test's files, or keeps them. */
static inline bool test_files_are_left(void)
{
	return getenv("DAGTAP_TEST_FOLDER");
}

static inline uint64_t test_seed(void)
{
	const char *seed = getenv("DAGTAP_TEST_SEED");

	return seed ? strtoull(seed, NULL, 0) : 1;
}

#endif
