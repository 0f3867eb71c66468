/*
 * repeated_ids FILE: gives records in the later half of a spool the ids of records in the earlier
 * half: dispatches, completions of dispatches, calls, scopes and ends of scopes. dagtap writes no
 * such file; which of two records counts is decided by their order in the file. Prints how many
 * were changed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/record.h"
#include "record/spool.h"

#define KEPT  10000
#define EVERY 200 /* a change in so many records of a type */

/* The records of one type. */
struct records {
	void *earlier[KEPT];
	size_t earlier_count;
	size_t later_count;
};

static struct records records[RECORD_TYPE_COUNT];
static size_t changed_count;

static void take_id(void *record, const void *from, size_t number)
{
	struct record_dispatch *dispatch = record;
	struct record_dispatch_done *done = record;
	struct record_api *call = record;
	struct record_scope *scope = record;
	struct record_scope_end *end = record;
	const struct record_header *header = record;

	if (header->type == RECORD_DISPATCH) {
		dispatch->header.tag = ((const struct record_dispatch *)from)->header.tag;
		dispatch->packet_index = ((const struct record_dispatch *)from)->packet_index;
	} else if (header->type == RECORD_DISPATCH_DONE) {
		done->header.tag = ((const struct record_dispatch_done *)from)->header.tag;
		done->packet_index = ((const struct record_dispatch_done *)from)->packet_index;
	} else if (header->type == RECORD_SCOPE) {
		scope->id = ((const struct record_scope *)from)->id;
	} else if (header->type == RECORD_SCOPE_END) {
		end->id = ((const struct record_scope_end *)from)->id;
	} else {
		call->cid = ((const struct record_api *)from)->cid;
		/* Some begin before the call whose id they take, and so count instead of it. */
		if (number % 2)
			call->begin_ns = ((const struct record_api *)from)->begin_ns - number % 3;
	}
	changed_count++;
}

static void visit(struct record_header *header, int is_later)
{
	struct records *of_type = &records[header->type];

	if (header->type != RECORD_DISPATCH && header->type != RECORD_DISPATCH_DONE &&
	    header->type != RECORD_API && header->type != RECORD_SCOPE &&
	    header->type != RECORD_SCOPE_END)
		return;
	if (!is_later && of_type->earlier_count < KEPT)
		of_type->earlier[of_type->earlier_count++] = header;
	else if (is_later && of_type->earlier_count && of_type->later_count++ % EVERY == 0)
		take_id(header,
			of_type->earlier[of_type->later_count * 7919 % of_type->earlier_count],
			of_type->later_count / EVERY);
}

static void visit_chunk(struct spool_chunk *chunk, int is_later)
{
	uint32_t at = SPOOL_CHUNK_HEAD_BYTES;

	while (at < chunk->used_bytes) {
		struct record_header *header = (struct record_header *)((char *)chunk + at);

		visit(header, is_later);
		at += header->words * 8u;
	}
	chunk->crc = spool_chunk_crc(chunk, chunk->used_bytes);
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	struct stat status;
	size_t places;
	char *bytes;

	if (fd < 0 || fstat(fd, &status) < 0)
		return 1;
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return 1;
	places = ((size_t)status.st_size - SPOOL_CHUNK_OFFSET) / SPOOL_CHUNK_BYTES;
	for (size_t i = 0; i < places; i++) {
		struct spool_chunk *chunk =
			(struct spool_chunk *)(bytes + SPOOL_CHUNK_OFFSET + i * SPOOL_CHUNK_BYTES);

		if (chunk->magic == SPOOL_CHUNK_MAGIC)
			visit_chunk(chunk, i >= places / 2);
	}
	printf("%zu\n", changed_count);
	return changed_count ? 0 : 1;
}
