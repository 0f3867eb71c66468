/* A folder for one .dagtap file, for a group of tests. One test program includes this file once. */
#ifndef DAGTAP_TESTS_TRACE_BUNDLE_FOLDER_H
#define DAGTAP_TESTS_TRACE_BUNDLE_FOLDER_H

#include <unistd.h>

#include "../launched.h"

static char bundle_folder[TEST_PATH_BYTES], bundle_path[2 * TEST_PATH_BYTES];

/* Makes the folder. The file at bundle_path is the tests' to make. */
static inline int bundle_folder_setup(void **state)
{
	(void)state;
	if (!mkdtemp(test_path(bundle_folder, "bundle")))
		return -1;
	snprintf(bundle_path, sizeof(bundle_path), "%s/a.dagtap", bundle_folder);
	return 0;
}

/* Removes the file, if there is one, and the folder. */
static inline int bundle_folder_teardown(void **state)
{
	(void)state;
	unlink(bundle_path);
	return rmdir(bundle_folder);
}

#endif
