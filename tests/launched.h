/*
 * What tests/run.sh provides for a test: a folder for its files, which it removes when the test
 * passes and keeps when it fails, and a seed for random numbers. A test that is started by hand
 * uses TMPDIR or /tmp, removes its files itself, and has seed 1.
 */
#ifndef TESTS_LAUNCHED_H
#define TESTS_LAUNCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Room for a test_path(); a file in such a folder needs twice as much. */
#define TEST_PATH_BYTES 512

/* Fills ret_path with a template for mkdtemp and mkstemp, NAME in the test's folder. */
static inline char *test_path(char ret_path[TEST_PATH_BYTES], const char *name)
{
	const char *folder = getenv("TMPDIR");

	snprintf(ret_path, TEST_PATH_BYTES, "%s/%s-XXXXXX", folder ? folder : "/tmp", name);
	return ret_path;
}

/* Returns an empty file without a name, in the test's folder; NULL: it could not be made. */
static inline FILE *test_file(void)
{
	char path[TEST_PATH_BYTES];
	int fd = mkstemp(test_path(path, "file"));

	if (fd < 0)
		return NULL;
	unlink(path);
	return fdopen(fd, "w+");
}

/* Returns true if tests/run.sh removes or keeps the test's files, so that the test need not. */
static inline bool test_files_are_left(void)
{
	return getenv("DAGTAP_TEST_FOLDER");
}

/* How far a loop goes that spoils one byte of an input after the other. ThreadSanitizer takes ten
 * times as long, and looks for what threads do to each other, which is the same at most bytes: its
 * build takes every 13th, with all remainders of a division by a power of two. */
#ifdef __SANITIZE_THREAD__
#define TEST_BYTE_STEP 13
#else
#define TEST_BYTE_STEP 1
#endif

static inline uint64_t test_seed(void)
{
	const char *seed = getenv("DAGTAP_TEST_SEED");

	return seed ? strtoull(seed, NULL, 0) : 1;
}

#endif
