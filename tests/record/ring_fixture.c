/* What the tests of ring mode share (ring_fixture.h). */
#include "ring_fixture.h"

#include <sys/stat.h>

struct spooler *ring_open(const struct fixture *fixture, uint64_t ring_ns)
{
	const struct spooler_options options = {
		.folder = fixture->folder,
		.ready_bytes = SPOOLER_READY_BYTES_LEAST,
		.ring_bytes = RING_BYTES,
		.ring_ns = ring_ns,
	};
	struct spooler *spooler = NULL;

	assert_int_equal(spooler_open(&options, &spooler), 0);
	return spooler;
}

uint64_t ring_file_bytes(const struct fixture *fixture)
{
	struct stat status;
	char path[2 * TEST_PATH_BYTES];

	assert_int_equal(fixture_files(fixture, path, sizeof(path)), 1);
	assert_int_equal(stat(path, &status), 0);
	return (uint64_t)status.st_size;
}

void ring_put_some(struct spooler *spooler, struct writer *w, uint64_t first, uint64_t count)
{
	for (uint64_t i = first; i < first + count; i++) {
		assert_true(fixture_put(w, i, 0));
		if (i % SERVICE_EVERY == 0)
			assert_true(spooler_service(spooler) >= 0);
	}
}

struct spool_reader *ring_close_and_read(const struct fixture *fixture, struct spooler *spooler)
{
	struct spool_reader *reader;

	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	fixture_assert_sound(reader);
	return reader;
}

void ring_put_kernel(struct writer *w, uint32_t id)
{
	struct record_kernel kernel = {.ns = id, .name_bytes = 6};

	writer_put_text(w, RECORD_KERNEL, id, &kernel, sizeof(kernel), "kernel", 6);
}

void ring_put_scope(struct writer *w, uint64_t id, uint64_t parent)
{
	struct record_scope scope = {.id = id, .parent = parent, .ns = id, .text_bytes = 4};

	writer_put_text(w, RECORD_SCOPE, RECORD_SCOPE_DAGTAP, &scope, sizeof(scope), "text", 4);
}

void ring_put_scope_end(struct writer *w, uint64_t id)
{
	struct record_scope_end end = {.id = id, .ns = id + 1};

	writer_put(w, RECORD_SCOPE_END, 0, &end, sizeof(end));
}
