/* A folder for spools, and small ways to write and read them. */
#ifndef DAGTAP_TESTS_SPOOL_FIXTURE_H
#define DAGTAP_TESTS_SPOOL_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/reader.h"
#include "record/spooler.h"
#include "record/writer.h"

struct fixture {
	char folder[64];
};

int fixture_setup(void **state);    /* *state: struct fixture */
int fixture_teardown(void **state); /* removes the folder and what is in it */

/* How many files the folder holds, and the path of one whose name ends in .spool. */
int fixture_files(const struct fixture *fixture, char *ret_path, size_t size);

struct spooler *fixture_open_spool(const struct fixture *fixture);

/* The same with a bound for what is kept ready; what spooler_open returned. */
int fixture_try_open(const struct fixture *fixture, uint64_t ready_bytes,
		     struct spooler **ret_spooler);

/* This thread's writer, called NAME. */
struct writer *fixture_writer(struct spooler *spooler, const char *name);

/* An API record with COUNTER as its cid and ARGS words of it as arguments; true if it was taken. */
bool fixture_put(struct writer *w, uint64_t counter, size_t args);

/* Until so many chunks are ready, as somebody else makes them: what fits into them is not dropped then,
 * however slow that is. */
void fixture_await_ready(struct spooler *spooler, uint64_t chunks);

/* The one spool in the folder, opened for reading; asserts that it opens. */
struct spool_reader *fixture_read(const struct fixture *fixture);

/* Its bytes, to be damaged; aligned; the caller frees. */
unsigned char *fixture_bytes(const struct fixture *fixture, size_t *ret_length);

uint64_t fixture_damage_count(const struct spool_reader *reader);

/* Asserts no damage and, for every class, that what was attempted is accounted for. */
void fixture_assert_sound(const struct spool_reader *reader);

/* Records of a type; asserts that API records of fixture_put hold what was put. */
uint64_t fixture_count(const struct spool_reader *reader, enum record_type type);

#endif
