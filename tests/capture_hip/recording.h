/* A program recorded on the software GPU: what it printed and what the spool holds. */
#ifndef TESTS_RECORDING_H
#define TESTS_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/reader.h"
#include "trace/model.h"

struct recording {
	int exit_code;
	char *output; /* lines "name hex" */
	size_t spool_count;
	struct spool_reader *reader; /* of the only spool; NULL if there is not exactly one */
	struct spool_record *records;
	size_t record_count;
};

/* PROGRAM is relative to the build folder, ARGUMENT may be NULL, ENVIRONMENT is one more
 * "NAME=value" or NULL. Fails the test when it cannot be run at all. */
struct recording *recording_make(const char *program, const char *argument,
				 const char *environment);
void recording_free(struct recording *recording);

/* A program with its arguments, up to a NULL, as a trace that the caller closes; what it printed is
 * the caller's to free. Fails the test if the program does. */
struct trace *recording_load(const char *const *words, char **ret_output);

/* The n-th value that the program printed under this name; fails when there is none. */
uint64_t recording_said(const struct recording *recording, const char *name, size_t n);

/* The n-th record of a type, NULL after the last. */
const void *recording_find(const struct recording *recording, enum record_type type, size_t n);
size_t recording_count(const struct recording *recording, enum record_type type);

/* The n-th API record of a function, NULL after the last. */
const struct record_api *recording_find_call(const struct recording *recording, const char *name,
					     size_t n);
const char *recording_call_name(const struct recording *recording, uint32_t op);

/* A recorded argument, by its name in the API_NAME record (one-word kinds). */
uint64_t recording_argument(const struct recording *recording, const struct record_api *api,
			    const char *name);

/* The last witness of a key. */
uint64_t recording_witness(const struct recording *recording, const char *source, const char *key);

#endif
