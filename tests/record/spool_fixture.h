/*
 * A folder for spools, and short functions that write and read them. Unless a contract says
 * otherwise, one thread uses a fixture.
 */
#ifndef DAGTAP_TESTS_SPOOL_FIXTURE_H
#define DAGTAP_TESTS_SPOOL_FIXTURE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../launched.h"
#include "record/spool_reader.h"
#include "record/spooler.h"
#include "record/writer.h"

struct fixture {
	char folder[TEST_PATH_BYTES];
};

int fixture_setup(void **state);    /* *state becomes a struct fixture with a new, empty folder */
int fixture_teardown(void **state); /* removes the folder and its files */

/* Removes the folder and its files, and makes a new one. Returns 0 or -1. */
int fixture_renew(struct fixture *fixture);

/* Returns the number of files in the folder; ret_path gets the path of one that ends in .spool. */
int fixture_files(const struct fixture *fixture, char *ret_path, size_t size);

/* Opens the spool of session N (from 0) in FOLDER; the caller closes it. NULL: there is none. */
struct spool_reader *fixture_open_session(const char *folder, uint32_t n);

/* Opens each spool of the folder once, and asserts that it is closed and sound. Asserts that the
 * folder's files are the spools of sessions 0 to *RET_SESSIONS - 1. Returns their API records. */
uint64_t fixture_count_sessions(const struct fixture *fixture, uint32_t *ret_sessions);

/* Opens a spool in the folder with the least number of ready bytes; asserts that it opens. */
struct spooler *fixture_open_spool(const struct fixture *fixture);

/* The same with a limit for the bytes of prepared chunks. Returns what spooler_open returned. */
int fixture_try_open(const struct fixture *fixture, uint64_t ready_bytes,
		     struct spooler **ret_spooler);

/* Registers this thread as a writer called NAME. */
struct writer *fixture_writer(struct spooler *spooler, const char *name);

/*
 * Writes an API record with COUNTER as its cid and ARGS words of arguments; returns false if it was
 * dropped.
 */
bool fixture_put(struct writer *w, uint64_t counter, size_t args);

/*
 * Waits until another thread has prepared CHUNKS chunks. Records that fit into them are then not
 * dropped, however slow that thread is later.
 */
void fixture_await_ready(struct spooler *spooler, uint64_t chunks);

/* ---- housekeeping by another thread ---- */

/*
 * A thread that serves the spooler as the session's housekeeper does, but on request instead of
 * after a pause. Writers that need a service wait for it, so a test does not depend on how much CPU
 * time the thread gets.
 */
struct keeper {
	struct spooler *spooler;
	pthread_t thread;
	sem_t asked;
	pthread_mutex_t lock;
	pthread_cond_t served;
	uint64_t services;		/* guarded by the lock */
	_Atomic uint64_t chunks_reused; /* chunks that were reused, in ring mode */
	_Atomic bool is_over;
};

/* Start and end the keeper's thread; the spooler must outlive it. */
void keeper_start(struct keeper *keeper, struct spooler *spooler);
void keeper_stop(struct keeper *keeper);

/* keeper_ask requests a service; keeper_await requests one and waits until it has ended. */
void keeper_ask(struct keeper *keeper);
void keeper_await(struct keeper *keeper);

/*
 * Calls fixture_put and requests a service now and then. If the record was dropped because no chunk
 * was ready, waits for a service.
 */
bool keeper_put(struct keeper *keeper, struct writer *w, uint64_t counter, size_t args);

/* ---- moments ---- */

/* Returns the next number of a linear congruential generator with *STATE as its state. */
uint64_t fixture_random(uint64_t *state);

/*
 * Counts down COUNT and kills the process when it reaches 0. The threads and children of a process
 * that must die in the middle of its work share COUNT.
 */
void fixture_count_to_kill(_Atomic int64_t *count);

/* Waits for PID; asserts that SIGKILL ended it. */
void fixture_await_killed(pid_t pid);

/* ---- reading ---- */

/* Opens the one spool in the folder for reading; asserts that it opens. The caller closes it. */
struct spool_reader *fixture_read(const struct fixture *fixture);

/*
 * Returns a copy of the spool's bytes, suitably aligned, which a test may damage. The caller frees
 * it.
 */
unsigned char *fixture_bytes(const struct fixture *fixture, size_t *ret_length);

/* Returns how many damages the reader has found. */
uint64_t fixture_damage_count(const struct spool_reader *reader);

/*
 * Asserts that the spool has no damage and that, for every class, the records attempted equal those
 * written plus those dropped.
 */
void fixture_assert_sound(const struct spool_reader *reader);

/* Returns the number of records of TYPE; asserts that API records hold what fixture_put wrote. */
uint64_t fixture_count(const struct spool_reader *reader, enum record_type type);

#endif
