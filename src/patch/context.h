/* Contexts (context.c). */
#ifndef DAGPATCH_PATCH_CONTEXT_H
#define DAGPATCH_PATCH_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include <dagpatch/dagpatch.h>

struct dagpatch_recording;
struct patch_device;
struct retired;

/* A context. Everything above LOCK but the counters is constant after dagpatch_context_create. */
struct dagpatch_context {
	struct patch_device *device;
	struct dagpatch_options options; /* a copy, with the defaults filled in */
	char *driver_name, *library;	 /* own the strings that OPTIONS points to */
	/* The caller's reference, until it destroys the context, and one of each recording and
	 * cache. */
	_Atomic uint32_t references;
	/* launches and builds of all recordings: orders them by their last use */
	_Atomic uint64_t launches;
	pthread_mutex_t lock;		       /* protects the following fields */
	struct dagpatch_recording *recordings; /* list of all recordings */
	struct retired *retired;	       /* list, see retire.c */
	/* entries of RETIRED that are unmarked; written with the lock, read without it */
	_Atomic uint32_t retired_unmarked;
};

/* Releases one reference; the last one destroys the context and waits for retired graphs. Any
 * thread. */
void context_release(struct dagpatch_context *context);

#endif
