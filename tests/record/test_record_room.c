/*
 * No room for chunks: records are dropped and counted, the program continues, and recording
 * continues when there is room again.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "spool_fixture.h"

#define HEAD_AND_ONE_WINDOW (SPOOL_CHUNK_OFFSET + 64 * SPOOL_CHUNK_BYTES)

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Puts records until one is dropped; returns how many were written. */
static uint64_t put_until_full(struct writer *w)
{
	uint64_t count = 0;

	while (fixture_put(w, count, 20))
		count++;
	return count;
}

static void without_service_the_ready_chunks_run_out(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct writer *w = fixture_writer(spooler, "hungry");
	uint64_t taken = put_until_full(w);
	struct spool_reader *reader;

	for (int i = 0; i < 9; i++)
		assert_false(fixture_put(w, 0, 20));
	assert_true(spooler_service(spooler) > 0);
	assert_true(fixture_put(w, taken, 20));
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	assert_int_equal(fixture_count(reader, RECORD_API), taken + 1);
	assert_int_equal(spool_reader_ledger(reader)->dropped[RECORD_CLASS_API][RECORD_DROP_FULL],
			 10);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

static uint64_t ready_bytes(struct spooler *spooler)
{
	const struct spool_live *live = spooler_live(spooler);

	return (atomic_load(&live->chunks_ready) - atomic_load(&live->chunks_taken)) *
	       SPOOL_CHUNK_BYTES;
}

static void a_burst_finds_room_before_the_first_service(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = NULL;

	assert_int_equal(fixture_try_open(fixture, SPOOLER_READY_BYTES_DEFAULT, &spooler), 0);
	assert_true(ready_bytes(spooler) >= SPOOLER_FIRST_BYTES);
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
}

static void more_is_kept_ready_while_it_is_used_up_fast(void **state)
{
	const struct fixture *fixture = *state;
	const uint64_t most = 6 * SPOOLER_FIRST_BYTES;
	struct spooler *spooler = NULL;
	struct spool_reader *reader;
	struct writer *w;

	assert_int_equal(fixture_try_open(fixture, most, &spooler), 0);
	w = fixture_writer(spooler, "fast");
	put_until_full(w);
	assert_true(spooler_service(spooler) > 0);
	for (int i = 0; i < 4; i++) {
		put_until_full(w);
		assert_true(spooler_service(spooler) > 0);
		assert_true(ready_bytes(spooler) < most + 64 * SPOOL_CHUNK_BYTES);
	}
	assert_true(ready_bytes(spooler) >= most);
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

/* The program is about to end, so there is no time to make a ring of any size. */
static void nothing_more_is_made_when_winding_down(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = NULL;

	assert_int_equal(fixture_try_open(fixture, SPOOLER_READY_BYTES_DEFAULT, &spooler), 0);
	put_until_full(fixture_writer(spooler, "late"));
	spooler_wind_down(spooler);
	assert_true(spooler_service(spooler) > 0);
	assert_int_equal(ready_bytes(spooler), 0);
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
}

static void a_file_size_limit_is_no_signal_and_no_fault(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct writer *w = fixture_writer(spooler, "limited");
	struct spool_reader *reader;
	uint64_t taken;

	limit_file_size(HEAD_AND_ONE_WINDOW + 100);
	taken = put_until_full(w);
	assert_int_equal(spooler_service(spooler), -EFBIG);
	assert_false(fixture_put(w, 0, 20));
	limit_file_size(RLIM_INFINITY);
	assert_true(spooler_service(spooler) >= 0);
	assert_true(fixture_put(w, taken, 20));
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	assert_int_equal(fixture_count(reader, RECORD_API), taken + 1);
	assert_int_equal(spool_reader_ledger(reader)->dropped[RECORD_CLASS_API][RECORD_DROP_FULL],
			 2);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

static void a_limit_from_the_start_leaves_no_file(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = NULL;
	int err;

	limit_file_size(SPOOL_CHUNK_OFFSET + 1000);
	err = fixture_try_open(fixture, SPOOLER_READY_BYTES_LEAST, &spooler);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(err, -EFBIG);
	assert_null(spooler);
	assert_int_equal(fixture_files(fixture, NULL, 0), 0);
}

static void a_missing_folder_is_an_error(void **state)
{
	const struct spooler_options options = {.folder = "/nowhere/at/all"};
	struct spooler *spooler = NULL;

	assert_int_equal(spooler_open(&options, &spooler), -ENOENT);
	assert_null(spooler);
}

static void a_full_disk_is_no_fault(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler;
	struct spool_reader *reader;
	struct writer *w;
	uint64_t taken;

	if (mount("none", fixture->folder, "tmpfs", 0, "size=6m"))
		skip();
	spooler = fixture_open_spool(fixture);
	w = fixture_writer(spooler, "full disk");
	taken = put_until_full(w);
	assert_int_equal(spooler_service(spooler), -ENOSPC);
	assert_false(fixture_put(w, 0, 20));
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	assert_int_equal(fixture_count(reader, RECORD_API), taken);
	assert_int_equal(spool_reader_ledger(reader)->dropped[RECORD_CLASS_API][RECORD_DROP_FULL],
			 2);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
	umount(fixture->folder);
}

static void a_closed_descriptor_is_found_again(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct writer *w = fixture_writer(spooler, "closed");
	struct spool_reader *reader;
	struct stat other;
	uint64_t taken;

	/*
	 * Does what a daemon does: closes all descriptors and then uses their numbers for other
	 * files.
	 */
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	for (int fd = 400; fd < 600; fd++)
		dup2(STDERR_FILENO, fd);
	taken = put_until_full(w);
	assert_true(spooler_service(spooler) > 0);
	assert_true(fixture_put(w, taken, 20));
	assert_int_equal(spooler_close(spooler), 0);
	assert_int_equal(fstat(512, &other), 0);
	for (int fd = 400; fd < 600; fd++)
		close(fd);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	assert_int_equal(fixture_count(reader, RECORD_API), taken + 1);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

/* ---- address space ---- */

#define LIMIT_LEFT ((uint64_t)160 << 20)

static uint64_t mapped_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long long pages = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%llu", &pages), 1);
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * Runs in a child, which limits its address space. Returns 0 if the program can allocate the larger
 * part of what the limit leaves while records come faster than they are stored.
 */
static int share_address_space(const struct fixture *fixture)
{
	const struct rlimit limit = {mapped_bytes() + LIMIT_LEFT, RLIM_INFINITY};
	struct spooler *spooler = NULL;
	struct writer *w;
	void *memory;

	if (setrlimit(RLIMIT_AS, &limit))
		return 1;
	if (fixture_try_open(fixture, SPOOLER_READY_BYTES_DEFAULT, &spooler))
		return 2;
	w = fixture_writer(spooler, "fast");
	for (int i = 0; i < 20; i++) {
		put_until_full(w);
		spooler_service(spooler);
	}
	memory = mmap(NULL, LIMIT_LEFT / 2 - ((size_t)8 << 20), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 3;
	/*
	 * After that there is no room for our mappings: records are dropped, and the program
	 * continues.
	 */
	put_until_full(w);
	spooler_service(spooler);
	put_until_full(w);
	return spooler_close(spooler) ? 4 : 0;
}

static void a_limit_of_address_space_leaves_the_program_its_part(void **state)
{
	const struct fixture *fixture = *state;
	struct spool_reader *reader;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(share_address_space(fixture));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	reader = fixture_read(fixture);
	assert_true(fixture_count(reader, RECORD_API) > 0);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_limit_of_address_space_leaves_the_program_its_part),
		CASE(without_service_the_ready_chunks_run_out),
		CASE(a_burst_finds_room_before_the_first_service),
		CASE(more_is_kept_ready_while_it_is_used_up_fast),
		CASE(nothing_more_is_made_when_winding_down),
		CASE(a_file_size_limit_is_no_signal_and_no_fault),
		CASE(a_limit_from_the_start_leaves_no_file),
		CASE(a_missing_folder_is_an_error),
		CASE(a_full_disk_is_no_fault),
		CASE(a_closed_descriptor_is_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
