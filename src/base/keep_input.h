/* Refuses an output that would destroy what is read: the same file under any name, a file in a
 * folder that is read, or a folder around the input. Threading: any thread. */
#ifndef DAGTAP_BASE_KEEP_INPUT_H
#define DAGTAP_BASE_KEEP_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error_text.h"

/* A file or folder that is read. It stays the input when it gets another name, and a file that gets
 * its name meanwhile is none. */
struct kept_input {
	const char *path; /* its name when it was opened; borrowed */
	dev_t device;
	ino_t inode;
	int64_t birth_ns; /* a later file may get the inode of one that was removed; 0: unknown */
	bool is_folder;
};

/* Whether both paths lead to one file, by links or not. */
bool keep_input_is_same(const char *one, const char *other);

/* Finds what has the name PATH now. Returns false if there is nothing. */
bool keep_input_find(const char *path, struct kept_input *ret_input);

/* Checks whether writing OUTPUT, a file or a folder, leaves INPUT as it is; "-" as OUTPUT is
 * standard output. In a folder that is INPUT no file is written, for it would be a part of the
 * input from then on. Returns 0, or -EBUSY with one line in ERROR. */
int keep_input_check(const char *output, const struct kept_input *input,
		     struct dagtap_error *error);

/* The same for what has the name INPUT now. Nothing is no reason to refuse. */
int keep_input(const char *output, const char *input, struct dagtap_error *error);

#endif
