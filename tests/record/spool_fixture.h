/* A folder for spools, and small ways to write and read them. */
#ifndef DAGTAP_TESTS_SPOOL_FIXTURE_H
#define DAGTAP_TESTS_SPOOL_FIXTURE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../launched.h"
#include "record/reader.h"
#include "record/spooler.h"
#include "record/writer.h"

struct fixture {
	char folder[TEST_PATH_BYTES];
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

/* ---- housekeeping by another thread ---- */

/* Serves the spooler as the session's thread does, but when it is asked and not after a pause: however
 * little CPU it gets, the writers that need it wait. */
struct keeper {
	struct spooler *spooler;
	pthread_t thread;
	sem_t asked;
	pthread_mutex_t lock;
	pthread_cond_t served;
	uint64_t services;	 /* with the lock */
	_Atomic uint64_t let_go; /* chunks, in ring mode */
	_Atomic bool is_over;
};

void keeper_start(struct keeper *keeper, struct spooler *spooler);
void keeper_stop(struct keeper *keeper);

/* Asks for a service; the second waits for the end of one. */
void keeper_ask(struct keeper *keeper);
void keeper_await(struct keeper *keeper);

/* fixture_put; asks now and then. A record that was dropped for want of a chunk waits for a service. */
bool keeper_put(struct keeper *keeper, struct writer *w, uint64_t counter, size_t args);

/* ---- moments ---- */

uint64_t fixture_random(uint64_t *state);

/* COUNT is shared by the threads of a process that is to die in the middle of its work: the call that
 * brings it down to 0 kills the process. */
void fixture_count_to_kill(_Atomic int64_t *count);

/* Waits for a child that ends like that, and only like that. */
void fixture_await_killed(pid_t pid);

/* ---- reading ---- */

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
