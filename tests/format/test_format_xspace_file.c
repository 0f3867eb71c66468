/* The outputs that an XSpace is written to: seekable and not seekable, long, several files. */
#include "xspace_written.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "../launched.h"
#include "format/xspace/xspace_writer.h"

/* Enough rows that lengths must be written far behind the flushed position. */
static struct scene *long_scene(unsigned calls)
{
	struct scene *scene = scene_create(0, 2);
	uint32_t work = scene_kernel(scene, "k", 64, 64);

	for (unsigned i = 0; i < calls; i++) {
		scene_scope(scene, "scope", i + 1, TRACE_NONE);
		scene->scopes[i].begin_ns = 1000 * i;
		scene->scopes[i].end_ns = 1000 * i + 500;
		scene_call(scene, "hipLaunchKernel", i + 1, 1000 * i + 10, 1000 * i + 90)->scope =
			i;
		scene_activity(scene, work, 1000 * i + 200, 1000 * i + 900)->agent = 1 + i % 2;
	}
	return scene;
}

static char *read_all(int fd, size_t *ret_size)
{
	char *bytes = NULL;
	size_t size = 0;

	for (;;) {
		ssize_t count;

		bytes = realloc(bytes, size + 65536);
		assert_non_null(bytes);
		count = read(fd, bytes + size, 65536);
		assert_true(count >= 0);
		if (count == 0)
			break;
		size += (size_t)count;
	}
	*ret_size = size;
	return bytes;
}

struct pipe_reader {
	int fd;
	char *bytes;
	size_t size;
};

static void *drain(void *argument)
{
	struct pipe_reader *reader = argument;

	reader->bytes = read_all(reader->fd, &reader->size);
	return NULL;
}

static void assert_same(const struct message *space, const char *bytes, size_t size)
{
	assert_int_equal(size, space->size);
	assert_memory_equal(bytes, space->bytes, size);
}

static void a_pipe_gets_the_same_bytes(void **state)
{
	struct scene *scene = long_scene(1000);
	struct message space = write_xspace(scene);
	struct pipe_reader reader;
	struct dagtap_error error;
	pthread_t thread;
	FILE *out;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	reader.fd = fds[0];
	assert_int_equal(pthread_create(&thread, NULL, drain, &reader), 0);
	out = fdopen(fds[1], "w");
	assert_int_equal(format_xspace.write(&scene->trace, out, NULL, &error), 0);
	fclose(out);
	pthread_join(thread, NULL);
	assert_same(&space, reader.bytes, reader.size);
	free(reader.bytes);
	close(fds[0]);
}

static void files_keep_what_is_in_them(void **state)
{
	struct scene *scene = long_scene(100);
	struct message space = write_xspace(scene);
	struct dagtap_error error;

	for (unsigned append = 0; append < 2; append++) {
		char path[TEST_PATH_BYTES];
		int fd = mkstemp(test_path(path, "xspace"));
		FILE *out;
		char *bytes;
		size_t size;

		assert_int_equal(write(fd, "head", 4), 4);
		if (append)
			assert_int_equal(fcntl(fd, F_SETFL, O_APPEND), 0);
		out = fdopen(fd, append ? "a" : "w");
		assert_int_equal(format_xspace.write(&scene->trace, out, NULL, &error), 0);
		fclose(out);
		fd = open(path, O_RDONLY);
		bytes = read_all(fd, &size);
		assert_memory_equal(bytes, "head", 4);
		assert_same(&space, bytes + 4, size - 4);
		free(bytes);
		close(fd);
		unlink(path);
	}
}

static void a_full_disk_is_reported(void **state)
{
	struct scene *scene = long_scene(1000);
	struct dagtap_error error = {.message = ""};
	FILE *out = fopen("/dev/full", "w");

	assert_non_null(out);
	assert_int_equal(format_xspace.write(&scene->trace, out, NULL, &error), -ENOSPC);
	assert_non_null(strstr(error.message, "No space left"));
	fclose(out);
}

#define PARTS 16

struct parts {
	char *bytes[PARTS];
	size_t sizes[PARTS];
	FILE *files[PARTS];
	uint32_t count;
};

static int open_part(void *context, uint32_t number, FILE **ret_out)
{
	struct parts *parts = context;

	assert_int_equal(number, parts->count + 1);
	assert_true(number <= PARTS);
	*ret_out = open_memstream(&parts->bytes[parts->count], &parts->sizes[parts->count]);
	parts->files[parts->count++] = *ret_out;
	return 0;
}

static uint64_t device_events(const struct message *space, uint64_t seen_cids[])
{
	uint64_t count = 0;

	for (unsigned gpu = 0; gpu < 2; gpu++) {
		struct xplane plane = xspace_plane(space, gpu ? "/device:GPU:1" : "/device:GPU:0");
		unsigned here = xplane_count_events(&plane, "k");

		for (unsigned i = 0; i < here; i++) {
			struct xevent event = xplane_event(&plane, "k", i);

			seen_cids[xevent_stat(&event, "correlation_id").number]++;
		}
		count += here;
	}
	return count;
}

static void what_is_too_long_is_split(void **state)
{
	/* The decoder's time grows with the square of the calls. */
	enum { CALLS = TEST_BYTE_STEP > 1 ? 200 : 400, LIMIT = 40 * CALLS };
	struct scene *scene = long_scene(CALLS);
	static uint64_t on_device[CALLS + 1], on_host[CALLS + 1];
	struct parts parts = {.count = 0};
	struct format_options options = {.open_part = open_part, .context = &parts};
	FILE *out;

	open_part(&parts, 1, &out);
	assert_int_equal(xspace_write(&scene->trace, out, &options, LIMIT), 0);
	assert_true(parts.count > 2);
	for (uint32_t i = 0; i < parts.count; i++) {
		struct message space;
		struct xplane host;
		struct field warning;
		uint64_t calls, work;

		fclose(parts.files[i]);
		assert_true(parts.sizes[i] <= LIMIT);
		space = (struct message){(const uint8_t *)parts.bytes[i], parts.sizes[i]};
		xspace_check(&space);
		work = device_events(&space, on_device);
		host = xspace_plane(&space, "/host:CPU");
		calls = xplane_count_events(&host, "hipLaunchKernel");
		for (unsigned j = 0; j < calls; j++) {
			struct xevent event = xplane_event(&host, "hipLaunchKernel", j);
			uint64_t cid = xevent_stat(&event, "correlation_id").number;

			/* Calls are in the same file as their activities. */
			on_host[cid]++;
			assert_int_equal(on_device[cid], 1);
		}
		assert_int_equal(calls, work);
		assert_true(decode_find(&space, XSPACE_WARNINGS, 0, &warning));
		free(parts.bytes[i]);
	}
	for (unsigned cid = 1; cid <= CALLS; cid++) {
		assert_int_equal(on_device[cid], 1);
		assert_int_equal(on_host[cid], 1);
	}
}

static void what_is_too_long_for_the_only_file_is_refused(void **state)
{
	struct scene *scene = long_scene(400);
	FILE *out = test_file();

	assert_non_null(out);
	assert_int_equal(xspace_write(&scene->trace, out, NULL, 16000), -EFBIG);
	fclose(out);
}

/* When everything happens at the same time, no cut can split it. */
static void what_cannot_be_split_is_refused(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "k", 64, 64);
	struct parts parts = {.count = 0};
	struct format_options options = {.open_part = open_part, .context = &parts};
	FILE *out;

	for (unsigned i = 0; i < 400; i++) {
		scene_call(scene, "hipLaunchKernel", i + 1, 10, 20);
		scene_activity(scene, work, 100, 200);
	}
	open_part(&parts, 1, &out);
	assert_int_equal(xspace_write(&scene->trace, out, &options, 16000), -EFBIG);
	fclose(out);
	free(parts.bytes[0]);
}

/* Each length is written to its place, wherever the flushed part ends. */
static void lengths_behind_a_flush(void **state)
{
	static uint8_t filler[3 << 20];

	for (size_t before = XSPACE_OUT_BLOCK - 12; before < XSPACE_OUT_BLOCK + 4; before++) {
		char *bytes = NULL;
		size_t size = 0;
		FILE *file = open_memstream(&bytes, &size);
		struct message whole, part;
		struct xspace_out out;
		uint64_t mark;

		assert_int_equal(xspace_out_init(&out, file, XSPACE_BYTES_MAX), 0);
		mark = xspace_out_begin(&out, 1);
		xspace_out_put(&out, filler, before);
		xspace_out_end(&out, mark);
		mark = xspace_out_begin(&out, 2);
		xspace_out_put(&out, filler, sizeof(filler));
		xspace_out_end(&out, mark);
		assert_int_equal(xspace_out_finish(&out), 0);
		assert_int_equal(out.flushed, before + sizeof(filler) + 12);
		xspace_out_release(&out);
		fclose(file);
		whole = (struct message){(const uint8_t *)bytes, size};
		part = decode_message(&whole, 1);
		assert_int_equal(part.size, before);
		part = decode_message(&whole, 2);
		assert_int_equal(part.size, sizeof(filler));
		free(bytes);
	}
}

/* A file that is opened for appending claims to be seekable, but all writes go to its end. */
static void lengths_in_a_file_that_is_appended_to(void **state)
{
	static uint8_t filler[3 << 20];
	char path[TEST_PATH_BYTES];
	int fd = mkstemp(test_path(path, "xspace"));
	struct message whole, part;
	struct xspace_out out;
	uint64_t mark;
	size_t size;
	char *bytes;
	FILE *file;

	close(fd);
	file = fopen(path, "a");
	assert_non_null(file);
	assert_int_equal(xspace_out_init(&out, file, XSPACE_BYTES_MAX), 0);
	mark = xspace_out_begin(&out, 1);
	xspace_out_put(&out, filler, sizeof(filler));
	xspace_out_end(&out, mark);
	assert_int_equal(xspace_out_finish(&out), 0);
	xspace_out_release(&out);
	fclose(file);
	fd = open(path, O_RDONLY);
	bytes = read_all(fd, &size);
	close(fd);
	unlink(path);
	assert_int_equal(size, sizeof(filler) + 6);
	whole = (struct message){(const uint8_t *)bytes, size};
	part = decode_message(&whole, 1);
	assert_int_equal(part.size, sizeof(filler));
	free(bytes);
}

/*
 * Three levels of names and ids cost nothing except what is paid once: a device event with a call
 * and a scope is no larger than XLA's own collector makes it (115 bytes with 13 stats).
 */
static void bytes_of_an_event(void **state)
{
	struct scene *scene = scene_create(0, 1);
	struct message space;
	struct xplane plane;
	struct xevent event;
	unsigned stats = 0;
	struct field field;

	scene_attribute(scene,
			scene_scope(scene, "XlaModule:", (UINT64_C(1) << 48) + 1, TRACE_NONE),
			"hlo_module", "jit_step");
	scene_attribute(scene, &scene->scopes[0], "program_id", "p");
	scene_attribute(scene, scene_scope(scene, "Thunk:", (UINT64_C(1) << 48) + 2, 0), "hlo_op",
			"fusion.1");
	scene_attribute(scene, &scene->scopes[1], "name", "jit(step)/dot");
	scene_attribute(scene, &scene->scopes[1], "unique_hlo_op_id", "12884901898");
	scene_graph(scene, 1, 1);
	scene_call(scene, "hipGraphLaunch", 3000000, 10, 20)->scope = 1;
	scene_launch(scene, 0, 0);
	scene_activity(scene, scene_kernel(scene, "k", 64, 64), 100000000000, 100000005000)->node =
		0;
	scene->activities[0].confidence = TRACE_CONFIDENCE_EXACT;
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	event = xplane_event(&plane, "k", 0);
	while (decode_find(&event.bytes, XEVENT_STATS, stats, &field))
		stats++;
	assert_int_equal(stats, 12);
	assert_true(event.bytes.size + 2 <= 115 * 12 / 13);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(a_pipe_gets_the_same_bytes),
		KEPT_CASE(files_keep_what_is_in_them),
		KEPT_CASE(a_full_disk_is_reported),
		KEPT_CASE(what_is_too_long_is_split),
		KEPT_CASE(what_is_too_long_for_the_only_file_is_refused),
		KEPT_CASE(what_cannot_be_split_is_refused),
		KEPT_CASE(lengths_behind_a_flush),
		KEPT_CASE(lengths_in_a_file_that_is_appended_to),
		KEPT_CASE(bytes_of_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
