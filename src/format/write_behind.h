/* Writes a file's blocks on a thread of its own, while the caller fills the next one. What the
 * caller and the thread do to the FILE takes turns, so that a block is written when the next call
 * returns. With one thread (workers_limit), or if none can be started, blocks are written at once.
 *
 * Life: write_behind_init, any number of write_behind_put and write_behind_wait,
 * write_behind_release. Threading: one thread at a time. */
#ifndef DAGTAP_FORMAT_WRITE_BEHIND_H
#define DAGTAP_FORMAT_WRITE_BEHIND_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct write_behind {
	FILE *file; /* borrowed */
	pthread_t thread;
	bool has_thread;
	bool was_started; /* a thread was asked for, with success or not */

	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t changed;
	const void *bytes; /* the block that is to be written; NULL: none is */
	size_t count;
	bool is_ending;
	int error; /* the first one, negative errno */
};

/* Prepares writing to FILE. The struct must not be moved until it is released. */
void write_behind_init(struct write_behind *behind, FILE *file);

/* Ends the thread, once it has written its block, and frees what BEHIND holds. */
void write_behind_release(struct write_behind *behind);

/* Waits for the block before this one, and begins to write COUNT bytes at BYTES, which the caller
 * leaves alone until the next call. Returns 0, or the first error so far as negative errno; after
 * one nothing more is written. */
int write_behind_put(struct write_behind *behind, const void *bytes, size_t count);

/* Writes COUNT bytes at BYTES on the calling thread, once the block before is written. Returns as
 * above. A file that is written in this way alone starts no thread. */
int write_behind_now(struct write_behind *behind, const void *bytes, size_t count);

/* Waits until all is written. Returns as above. Then the caller may use the FILE. */
int write_behind_wait(struct write_behind *behind);

#endif
