/* The list of files that are wanted, and the thread that writes them; see deliveries.h. */
#include "cli/deliveries.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "cli/cli_thread.h"
#include "cli/export_file.h"
#include "cli/spool_listing.h"
#include "record/spool.h"

enum progress { BEGUN, ENDED, WRITTEN };

struct delivery {
	enum progress progress;
	char spool[DELIVERY_SPOOL_BYTES];
	char *output; /* owned */
};

struct deliveries {
	char *folder;
	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock; /* over what follows */
	pthread_cond_t changed;
	bool is_over; /* the program has ended */
	struct delivery *rows;
	uint32_t count;
};

/* ---- the thread ---- */

/* Waits for a file to write. Returns its row, or UINT32_MAX when there will be none any more. Call
 * with the lock. */
static uint32_t await_work(struct deliveries *d)
{
	for (;;) {
		for (uint32_t i = 0; i < d->count; i++)
			if (d->rows[i].progress == ENDED ||
			    (d->is_over && d->rows[i].progress == BEGUN))
				return i;
		if (d->is_over)
			return UINT32_MAX;
		pthread_cond_wait(&d->changed, &d->lock);
	}
}

/* Without memory nothing is written; the recording is in OUT. */
static void write_file(const char *folder, const char *spool, const char *output)
{
	char *input;

	if (asprintf(&input, "%s/%s", folder, spool) < 0)
		return;
	export_file("kineto", input, output);
	free(input);
}

static void *write_files(void *context)
{
	struct deliveries *d = context;
	uint32_t at;

	pthread_mutex_lock(&d->lock);
	while ((at = await_work(d)) != UINT32_MAX) {
		/* The rows may move meanwhile. */
		struct delivery row = d->rows[at];

		d->rows[at].progress = WRITTEN;
		pthread_mutex_unlock(&d->lock);
		write_file(d->folder, row.spool, row.output);
		pthread_mutex_lock(&d->lock);
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

static int start_thread(struct deliveries *d)
{
	int err = cli_thread_start(&d->thread, write_files, d);

	d->has_thread = !err;
	return err;
}

int deliveries_open(const char *folder, struct deliveries **ret_deliveries)
{
	struct deliveries *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->changed, NULL);
	d->folder = strdup(folder);
	err = d->folder ? start_thread(d) : -ENOMEM;
	if (err < 0) {
		deliveries_close(d);
		return err;
	}
	*ret_deliveries = d;
	return 0;
}

/* ---- messages ---- */

static bool is_text(const char *text, size_t bytes)
{
	return memchr(text, '\0', bytes);
}

/* The spool's name is used in a path. */
static bool is_sound(const struct delivery_word *word)
{
	return word->kind && word->kind < DELIVERY_KIND_COUNT &&
	       is_text(word->spool, sizeof(word->spool)) && !strchr(word->spool, '/') &&
	       listing_has_suffix(word->spool, SPOOL_SUFFIX) &&
	       is_text(word->output, sizeof(word->output)) &&
	       (word->kind == DELIVERY_ENDED || *word->output == '/');
}

static struct delivery *find(struct deliveries *d, const char *spool)
{
	for (uint32_t i = 0; i < d->count; i++)
		if (!strcmp(d->rows[i].spool, spool))
			return &d->rows[i];
	return NULL;
}

static void add(struct deliveries *d, const struct delivery_word *word)
{
	char *output = strdup(word->output);
	struct delivery *row =
		output ? table_add((void **)&d->rows, &d->count, sizeof(*row)) : NULL;

	if (!row) {
		free(output);
		return;
	}
	*row = (struct delivery){.progress = BEGUN, .output = output};
	strcpy(row->spool, word->spool);
}

void deliveries_take(struct deliveries *d, const struct delivery_word *word)
{
	struct delivery *row;

	if (!is_sound(word))
		return;
	pthread_mutex_lock(&d->lock);
	row = find(d, word->spool);
	if (!row && word->kind == DELIVERY_BEGUN)
		add(d, word);
	else if (row && word->kind == DELIVERY_ENDED && row->progress == BEGUN)
		row->progress = ENDED;
	pthread_cond_signal(&d->changed);
	pthread_mutex_unlock(&d->lock);
}

/* ---- the end ---- */

void deliveries_finish(struct deliveries *d)
{
	if (!d || !d->has_thread)
		return;
	pthread_mutex_lock(&d->lock);
	d->is_over = true;
	pthread_cond_signal(&d->changed);
	pthread_mutex_unlock(&d->lock);
	pthread_join(d->thread, NULL);
	d->has_thread = false;
}

void deliveries_close(struct deliveries *d)
{
	if (!d)
		return;
	deliveries_finish(d);
	for (uint32_t i = 0; i < d->count; i++)
		free(d->rows[i].output);
	free(d->rows);
	free(d->folder);
	pthread_cond_destroy(&d->changed);
	pthread_mutex_destroy(&d->lock);
	free(d);
}
