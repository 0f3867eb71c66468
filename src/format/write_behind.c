/* The thread that writes blocks (write_behind.h). */
#include "format/write_behind.h"

#include <errno.h>
#include <signal.h>

#include "base/workers.h"

void write_behind_init(struct write_behind *behind, FILE *file)
{
	*behind = (struct write_behind){.file = file};
	pthread_mutex_init(&behind->lock, NULL);
	pthread_cond_init(&behind->changed, NULL);
}

static int write_block(FILE *file, const void *bytes, size_t count)
{
	errno = 0;
	if (fwrite(bytes, 1, count, file) == count)
		return 0;
	return errno ? -errno : -EIO;
}

static void *write_blocks(void *write_behind)
{
	struct write_behind *behind = write_behind;

	pthread_mutex_lock(&behind->lock);
	while (behind->bytes || !behind->is_ending) {
		int error;

		if (!behind->bytes) {
			pthread_cond_wait(&behind->changed, &behind->lock);
			continue;
		}
		/* The other side changes nothing while there is a block. */
		pthread_mutex_unlock(&behind->lock);
		error = write_block(behind->file, behind->bytes, behind->count);
		pthread_mutex_lock(&behind->lock);
		behind->error = error;
		behind->bytes = NULL;
		pthread_cond_broadcast(&behind->changed);
	}
	pthread_mutex_unlock(&behind->lock);
	return NULL;
}

/* Not in write_behind_init, because a short file has no block to wait for. */
static void start(struct write_behind *behind)
{
	sigset_t all, before;

	behind->was_started = true;
	if (workers_count(WORKERS_ALL) < 2)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	behind->has_thread = !pthread_create(&behind->thread, NULL, write_blocks, behind);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int write_behind_wait(struct write_behind *behind)
{
	int error;

	pthread_mutex_lock(&behind->lock);
	while (behind->bytes)
		pthread_cond_wait(&behind->changed, &behind->lock);
	error = behind->error;
	pthread_mutex_unlock(&behind->lock);
	return error;
}

int write_behind_now(struct write_behind *behind, const void *bytes, size_t count)
{
	int error = write_behind_wait(behind);

	if (error < 0 || count == 0)
		return error;
	error = write_block(behind->file, bytes, count);
	pthread_mutex_lock(&behind->lock);
	behind->error = error;
	pthread_mutex_unlock(&behind->lock);
	return error;
}

int write_behind_put(struct write_behind *behind, const void *bytes, size_t count)
{
	int error = write_behind_wait(behind);

	if (error < 0 || count == 0)
		return error;
	if (!behind->was_started)
		start(behind);
	if (!behind->has_thread)
		return write_behind_now(behind, bytes, count);
	pthread_mutex_lock(&behind->lock);
	behind->bytes = bytes;
	behind->count = count;
	pthread_cond_broadcast(&behind->changed);
	pthread_mutex_unlock(&behind->lock);
	return 0;
}

void write_behind_release(struct write_behind *behind)
{
	pthread_mutex_lock(&behind->lock);
	behind->is_ending = true;
	pthread_cond_broadcast(&behind->changed);
	pthread_mutex_unlock(&behind->lock);
	if (behind->has_thread)
		pthread_join(behind->thread, NULL);
	pthread_cond_destroy(&behind->changed);
	pthread_mutex_destroy(&behind->lock);
}
