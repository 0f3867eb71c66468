/* The recordings of this process and the threads that are bound to them; see
 * process_recordings.h. */
#include "capture/process_recordings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/spooler.h"

struct recording {
	struct recording *next;	 /* in recordings */
	struct spooler *spooler; /* owned; NULL: this struct is free */
	/* Threads that have a writer, or that are in recording_bind with this recording. */
	_Atomic uint32_t bound;
};

_Atomic(struct recording *) recording_current;

/* All that were ever made. Used by the thread that starts a session, and after a fork. */
static struct recording *recordings;

static struct recording *find_free(void)
{
	struct recording *recording = recordings;

	while (recording && recording->spooler)
		recording = recording->next;
	if (recording)
		return recording;
	recording = calloc(1, sizeof(*recording));
	if (!recording)
		return NULL;
	recording->next = recordings;
	recordings = recording;
	return recording;
}

int recording_begin(struct spooler *spooler)
{
	struct recording *recording = find_free();

	if (!recording)
		return -ENOMEM;
	recording->spooler = spooler;
	atomic_store(&recording_current, recording);
	return 0;
}

struct spooler *recording_spooler(void)
{
	const struct recording *recording = atomic_load(&recording_current);

	return recording ? recording->spooler : NULL;
}

/* Bound like a thread that writes, so that the spooler, which owns the path, is not released. */
size_t recording_path(char *ret_path, size_t room)
{
	struct recording *recording = atomic_load(&recording_current), *now;
	size_t bytes = 0;

	for (; recording && !bytes; recording = now) {
		atomic_fetch_add(&recording->bound, 1);
		now = atomic_load(&recording_current);
		if (now == recording) {
			const char *path = spooler_path(recording->spooler);

			bytes = strlen(path);
			if (room) {
				size_t copied = bytes < room ? bytes : room - 1;

				memcpy(ret_path, path, copied);
				ret_path[copied] = '\0';
			}
		}
		atomic_fetch_sub_explicit(&recording->bound, 1, memory_order_release);
	}
	return bytes;
}

struct writer *recording_bind(const struct writer_thread *thread, struct recording **ret_recording)
{
	struct recording *recording = atomic_load(&recording_current), *now;

	for (; recording; recording = now) {
		atomic_fetch_add(&recording->bound, 1);
		/* Sequentially consistent, with recording_begin and recording_release_old:
		 * either the latter sees that this thread is bound, or this thread sees that the
		 * recording is no longer the current one. */
		now = atomic_load(&recording_current);
		if (now == recording) {
			*ret_recording = recording;
			return spooler_take_writer(recording->spooler, thread);
		}
		atomic_fetch_sub(&recording->bound, 1);
	}
	return NULL;
}

void recording_unbind(struct recording *recording, struct writer *w)
{
	spooler_put_writer(w->spooler, w);
	/* Release: the thread has finished with the writer. Pairs with the load in
	 * recording_release_old. */
	atomic_fetch_sub_explicit(&recording->bound, 1, memory_order_release);
}

void recording_release_old(void)
{
	const struct recording *current = atomic_load(&recording_current);

	for (struct recording *old = recordings; old; old = old->next) {
		if (old == current || !old->spooler || atomic_load(&old->bound))
			continue;
		spooler_release(old->spooler);
		old->spooler = NULL;
	}
}

void recording_forget(void)
{
	atomic_store(&recording_current, NULL);
	for (struct recording *each = recordings; each; each = each->next) {
		spooler_forget(each->spooler);
		each->spooler = NULL;
		atomic_store(&each->bound, 0);
	}
}
