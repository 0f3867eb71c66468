/* live-replay SPOOL SEED TIMES: plays SPOOL again TIMES times, each time in another order and with
 * other cuts, and compares what is followed with the whole. All anchors get one uncertainty first:
 * else a later one could show that an earlier one was read badly, and times would differ (see
 * live/live.h). */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "follow.h"

static const char *path;
static uint64_t seed;
static unsigned times;

/* Makes all anchors of a chunk equally good. */
static void level_anchors(struct spool_chunk *chunk)
{
	const bool is_open = chunk->state == SPOOL_CHUNK_OPEN;
	uint32_t end = is_open ? SPOOL_CHUNK_BYTES : chunk->used_bytes;

	for (uint32_t at = SPOOL_CHUNK_HEAD_BYTES; at < end;) {
		struct record_header *record = (void *)((unsigned char *)chunk + at);

		if (!record->type)
			break;
		if (record->type == RECORD_ANCHOR)
			((struct record_anchor *)(void *)record)->uncertainty_ns = 1;
		at += record->words * 8u;
	}
	if (chunk->state == SPOOL_CHUNK_SEALED)
		chunk->crc = spool_chunk_crc(chunk, chunk->used_bytes);
}

static void level_all_anchors(unsigned char *image, size_t length)
{
	for (size_t at = SPOOL_CHUNK_OFFSET; at + SPOOL_CHUNK_BYTES <= length;
	     at += SPOOL_CHUNK_BYTES) {
		struct spool_chunk *chunk = (void *)(image + at);

		if (chunk->magic == SPOOL_CHUNK_MAGIC)
			level_anchors(chunk);
	}
}

static void what_is_followed_is_the_whole(void **state)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *image;

	(void)state;
	assert_true(fd >= 0 && fstat(fd, &status) == 0);
	image = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_true(image != MAP_FAILED);
	level_all_anchors(image, (size_t)status.st_size);
	for (unsigned i = 0; i < times; i++) {
		uint32_t most = 1u << (4 + i * 5 % 11);
		uint32_t rows = follow_assert_same(image, (size_t)status.st_size, seed + i, most);

		printf("%s: seed %llu, up to %u records a step: %u rows\n", path,
		       (unsigned long long)seed + i, most, rows);
	}
	munmap(image, (size_t)status.st_size);
	close(fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_followed_is_the_whole)};

	if (argc != 4)
		return 2;
	path = argv[1];
	seed = strtoull(argv[2], NULL, 10);
	times = (unsigned)strtoul(argv[3], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
