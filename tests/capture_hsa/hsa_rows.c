/* Reads the HSA rows of a spool (hsa_rows.h). */
#include "hsa_rows.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/spool_reader.h"

static void fail(const char *what)
{
	fprintf(stderr, "rows: %s\n", what);
	exit(EXIT_FAILURE);
}

static int find_spool(const char *folder, char *ret_path)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int count = 0;

	if (!dir)
		fail("no folder");
	while ((entry = readdir(dir))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (!dot || strcmp(dot, SPOOL_SUFFIX) != 0)
			continue;
		count++;
		if (ret_path)
			snprintf(ret_path, PATH_MAX, "%s/%s", folder, entry->d_name);
	}
	closedir(dir);
	return count;
}

int rows_spool_count(const char *folder)
{
	return find_spool(folder, NULL);
}

static struct spool_reader *open_only(const char *folder)
{
	struct spool_reader *reader;
	struct dagtap_error error;
	char path[PATH_MAX];
	uint64_t damages;
	size_t kept;

	if (find_spool(folder, path) != 1)
		fail("not exactly one spool");
	if (spool_reader_open(path, &reader, &error))
		fail(error.message);
	spool_reader_damages(reader, &kept, &damages);
	if (damages)
		fail("the spool is damaged");
	return reader;
}

static void *grow(void *array, size_t count, size_t size)
{
	/* Grow to the next power of two, whenever the count is a power of two. */
	if (count & (count - 1))
		return array;
	array = realloc(array, (count ? count * 2 : 1) * size);
	if (!array)
		fail("out of memory");
	return array;
}

static struct row_queue *queue_row(struct rows *rows, uint32_t id)
{
	if (id >= ROWS_QUEUES_MOST)
		fail("queue id too large");
	return &rows->queues[id];
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_dispatches(const void *a, const void *b)
{
	const struct row_dispatch *x = a, *y = b;
	int order = compare(x->queue, y->queue);

	return order ? order : compare(x->r.packet_index, y->r.packet_index);
}

static int compare_copies(const void *a, const void *b)
{
	return compare(((const struct row_copy *)a)->r.copy_id,
		       ((const struct row_copy *)b)->r.copy_id);
}

static int compare_anchors(const void *a, const void *b)
{
	return compare(((const struct record_anchor *)a)->host_ns,
		       ((const struct record_anchor *)b)->host_ns);
}

/* First pass over the records: everything except completions, whose rows may be in another
 * writer. */
static void gather(struct rows *rows, const struct spool_record *record)
{
	const void *r = record->header;
	uint32_t tag = record->header->tag;

	switch (record->type) {
	case RECORD_DISPATCH:
		rows->dispatches =
			grow(rows->dispatches, rows->dispatch_count, sizeof(*rows->dispatches));
		rows->dispatches[rows->dispatch_count++] = (struct row_dispatch){
			.queue = tag, .r = *(const struct record_dispatch *)r};
		queue_row(rows, tag)->dispatches++;
		break;
	case RECORD_COPY:
		rows->copies = grow(rows->copies, rows->copy_count, sizeof(*rows->copies));
		rows->copies[rows->copy_count++] =
			(struct row_copy){.kind = tag, .r = *(const struct record_copy *)r};
		break;
	case RECORD_ANCHOR:
		rows->anchors = grow(rows->anchors, rows->anchor_count, sizeof(*rows->anchors));
		rows->anchors[rows->anchor_count++] = *(const struct record_anchor *)r;
		break;
	case RECORD_BARRIER:
		rows->barriers++;
		queue_row(rows, tag)->barriers++;
		break;
	case RECORD_QUEUE:
		queue_row(rows, tag)->exists = true;
		queue_row(rows, tag)->r = *(const struct record_queue *)r;
		break;
	case RECORD_KERNEL:
		rows->kernels++;
		rows->kernel_of_last = tag;
		snprintf(rows->kernel_name, sizeof(rows->kernel_name), "%.*s",
			 (int)((const struct record_kernel *)r)->name_bytes,
			 ((const struct record_kernel *)r)->name);
		break;
	case RECORD_KERNEL_GONE:
		rows->kernels_gone++;
		break;
	case RECORD_AGENT:
		rows->agents++;
		break;
	default:
		break;
	}
}

static void complete_dispatch(struct rows *rows, uint32_t queue,
			      const struct record_dispatch_done *done)
{
	struct row_dispatch key = {.queue = queue, .r.packet_index = done->packet_index};
	struct row_dispatch *row = bsearch(&key, rows->dispatches, rows->dispatch_count,
					   sizeof(key), compare_dispatches);

	if (!row) {
		rows->orphans++; /* allowed only if the dispatch was dropped */
		return;
	}
	if (row->has_done)
		fail("a dispatch completed twice");
	row->has_done = true;
	row->done = *done;
}

static void complete_copy(struct rows *rows, uint32_t untimed, const struct record_copy_done *done)
{
	struct row_copy key = {.r.copy_id = done->copy_id};
	struct row_copy *row =
		bsearch(&key, rows->copies, rows->copy_count, sizeof(key), compare_copies);

	if (!row) {
		rows->orphans++;
		return;
	}
	if (row->has_done)
		fail("a copy completed twice");
	row->has_done = true;
	row->untimed = untimed;
	row->start = done->start;
	row->end = done->end;
}

/* The counts of a queue only grow, so the record with the greatest counts is the newest one,
 * whatever the times say. */
static uint64_t counted(const struct record_queue_count *count)
{
	return count->write_index + count->dispatches + count->barriers + count->others +
	       count->destroyed;
}

static void complete(struct rows *rows, const struct spool_record *record)
{
	const void *r = record->header;
	struct row_queue *queue;

	switch (record->type) {
	case RECORD_DISPATCH_DONE:
		complete_dispatch(rows, record->header->tag, r);
		break;
	case RECORD_COPY_DONE:
		complete_copy(rows, record->header->tag, r);
		break;
	case RECORD_QUEUE_COUNT:
		queue = queue_row(rows, record->header->tag);
		if (!queue->is_counted || counted(&queue->count) <= counted(r))
			queue->count = *(const struct record_queue_count *)r;
		queue->is_counted = true;
		break;
	default:
		break;
	}
}

static void visit(struct rows *rows, const struct spool_reader *reader,
		  void (*each)(struct rows *, const struct spool_record *))
{
	struct spool_cursor cursor;
	struct spool_record record;

	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record))
			each(rows, &record);
	}
}

static void sum_up(struct rows *rows)
{
	for (size_t i = 0; i < rows->dispatch_count; i++) {
		const struct row_dispatch *row = &rows->dispatches[i];

		if (i && !compare_dispatches(row - 1, row))
			fail("two dispatches with one packet index");
		if (row->r.untimed)
			rows->untimed[row->r.untimed]++;
		else if (row->has_done)
			rows->untimed[row->done.untimed]++;
		else
			rows->without_done++;
		if (row->r.untimed && row->has_done)
			fail("a completion of a dispatch that was untimed from the start");
	}
	for (size_t i = 0; i < rows->copy_count; i++) {
		if (rows->copies[i].has_done)
			rows->copies_untimed[rows->copies[i].untimed]++;
	}
}

static void sort(void *rows, size_t count, size_t size, int (*order)(const void *, const void *))
{
	if (count)
		qsort(rows, count, size, order);
}

struct rows *rows_read(const char *folder)
{
	struct spool_reader *reader = open_only(folder);
	const struct spool_ledger *ledger = spool_reader_ledger(reader);
	struct rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		fail("out of memory");
	visit(rows, reader, gather);
	sort(rows->dispatches, rows->dispatch_count, sizeof(*rows->dispatches), compare_dispatches);
	sort(rows->copies, rows->copy_count, sizeof(*rows->copies), compare_copies);
	sort(rows->anchors, rows->anchor_count, sizeof(*rows->anchors), compare_anchors);
	visit(rows, reader, complete);
	sum_up(rows);
	for (int c = 0; c < RECORD_CLASS_COUNT; c++) {
		for (int d = 0; d < RECORD_DROP_COUNT; d++) {
			rows->dropped += ledger->dropped[c][d];
			rows->dropped_by[c][d] = ledger->dropped[c][d];
		}
	}
	rows->closed = spool_reader_info(reader)->closed;
	spool_reader_close(reader);
	return rows;
}

void rows_free(struct rows *rows)
{
	free(rows->dispatches);
	free(rows->copies);
	free(rows->anchors);
	free(rows);
}

uint64_t rows_witness(const char *folder, const char *source, const char *key)
{
	struct spool_reader *reader = open_only(folder);
	uint64_t value = UINT64_MAX, latest = 0;
	uint32_t number = 0;
	struct spool_cursor cursor;
	struct spool_record record;

	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record)) {
			const struct record_witness *r = (const void *)record.header;

			if (record.type != RECORD_WITNESS || strcmp(r->source, source) != 0 ||
			    strcmp(r->key, key) != 0 || r->ns < latest ||
			    (r->ns == latest && r->header.tag < number))
				continue;
			latest = r->ns;
			number = r->header.tag;
			value = r->value;
		}
	}
	spool_reader_close(reader);
	return value;
}
