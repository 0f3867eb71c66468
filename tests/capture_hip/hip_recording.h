/* Records a program on the software GPU and gives access to its output and its spool. All
 * functions fail the cmocka test on an error. */
#ifndef TESTS_RECORDING_H
#define TESTS_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/spool_reader.h"
#include "trace/trace_model.h"

/* One recorded program. recording_free frees it. */
struct recording {
	int exit_code; /* exit status; 128 + signal number if a signal ended the program */
	char *output;  /* what the program printed, in lines of "NAME HEX" */
	size_t spool_count;
	struct spool_reader *reader;  /* NULL if there is not exactly one spool */
	struct spool_record *records; /* in writer order; point into READER */
	size_t record_count;
};

/* Runs PROGRAM (relative to the build folder) under the injected library. ARGUMENT may be NULL.
 * ENVIRONMENT is one more "NAME=value", or NULL. The exit code of the program is not checked. */
struct recording *recording_make(const char *program, const char *argument,
				 const char *environment);
void recording_free(struct recording *recording);

/* Records a scene of hip_scenes.c, which must exit with 0 and leave one spool. */
struct recording *recording_of_scene(const char *scene);

/* Asserts that every wrapped call has its API record. The wrappers count calls independently of the
 * writer. */
void recording_assert_complete(const struct recording *recording);

/* Runs a program, given with its arguments as a NULL-terminated list, and loads its recording.
 * The program must exit with 0. The caller closes the trace and frees *RET_OUTPUT, the program's
 * output. */
struct trace *recording_load(const char *const *words, char **ret_output);

/* The N-th value (from 0) that the program printed under NAME; fails the test if there is none. */
uint64_t recording_said(const struct recording *recording, const char *name, size_t n);

/* The N-th record of a type (from 0), in the order of writers; NULL if there are fewer. */
const void *recording_find(const struct recording *recording, enum record_type type, size_t n);
size_t recording_count(const struct recording *recording, enum record_type type);

/* The N-th API record (from 0) of the function NAME; NULL if there are fewer. */
const struct record_api *recording_find_call(const struct recording *recording, const char *name,
					     size_t n);
/* The name of function OP, from its API_NAME record. Valid until the next call (static buffer). */
const char *recording_call_name(const struct recording *recording, uint32_t function);

/* The argument NAME of a call, found through the API_NAME record. Only for kinds that take one
 * word. */
uint64_t recording_argument(const struct recording *recording, const struct record_api *api,
			    const char *name);

/* The newest value of the witness (SOURCE, KEY). */
uint64_t recording_witness(const struct recording *recording, const char *source, const char *key);

#endif
