/* Follows a played spool: see follow.h. */
#include "follow.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void take_window(struct followed *followed, struct trace *window)
{
	if (!window)
		return;
	followed->windows++;
	rows_add(&followed->rows, window);
	trace_close(window);
}

/* Polls until nothing more is there now. */
static void poll_all(struct live *live, struct followed *followed)
{
	struct trace *window;
	int more;

	do {
		more = live_poll(live, &window);
		assert_true(more >= 0);
		take_window(followed, window);
		live_count(live, &followed->counts);
		if (followed->counts.open_bytes > followed->most_open_bytes)
			followed->most_open_bytes = followed->counts.open_bytes;
	} while (more > 0);
}

struct followed follow(const void *image, size_t length, uint64_t seed, uint32_t most_records,
		       const struct live_options *options, bool is_cuda)
{
	struct followed followed = {.rows.has_nodes = options && options->most_graph_bytes,
				    .rows.is_cuda = is_cuda};
	struct player player;
	struct live *live;
	struct trace *window;
	int more;

	player_begin(&player, image, length, seed);
	assert_int_equal(live_open_fd(player.fd, "played", options, &live, NULL), 0);
	while (player_step(&player, 1 + (uint32_t)(player.random >> 40) % most_records))
		poll_all(live, &followed);
	poll_all(live, &followed);
	do {
		more = live_finish(live, &window);
		assert_true(more >= 0);
		take_window(&followed, window);
	} while (more > 0);
	live_close(live);
	player_end(&player);
	return followed;
}

uint32_t follow_assert_same(const void *image, size_t length, uint64_t seed, uint32_t most_records)
{
	/* Writers are mixed at random: an anchor may come long before an earlier record. Graphs are
	 * kept for every second seed. */
	const struct live_options options = {.quiet_ns = UINT64_MAX,
					     .most_graph_bytes = seed % 2 ? 64u << 20 : 0};
	struct rows whole = {.has_nodes = options.most_graph_bytes};
	struct followed followed;
	struct trace *trace;
	uint32_t count;

	assert_int_equal(trace_open_memory("whole", image, length, &trace, NULL), 0);
	for (uint32_t i = 0; i < trace->agents_count; i++)
		whole.is_cuda |= trace->agents[i].index >= RECORD_CUDA_AGENT_FIRST;
	followed = follow(image, length, seed, most_records, &options, whole.is_cuda);
	rows_add(&whole, trace);
	trace_close(trace);
	rows_assert_same(&whole, &followed.rows);
	count = whole.count;
	rows_release(&whole);
	rows_release(&followed.rows);
	return count;
}

/* ---- files ---- */

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

void follow_file(const char *path, uint64_t seed, unsigned times)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *image;

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
