/* Spools in a folder of their own, and a thread that serves them: spool_fixture.h. */
#include "spool_fixture.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define ASK_EVERY 500 /* records: about half a chunk's */

static int make_folder(struct fixture *fixture)
{
	return mkdtemp(test_path(fixture->folder, "spools")) ? 0 : -1;
}

int fixture_setup(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return *state ? make_folder(*state) : -1;
}

int fixture_files(const struct fixture *fixture, char *ret_path, size_t size)
{
	DIR *folder = opendir(fixture->folder);
	struct dirent *entry;
	int count = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		size_t length = strlen(entry->d_name);

		if (entry->d_name[0] == '.')
			continue;
		count++;
		if (ret_path && length > 6 && !strcmp(entry->d_name + length - 6, SPOOL_SUFFIX))
			snprintf(ret_path, size, "%s/%s", fixture->folder, entry->d_name);
	}
	closedir(folder);
	return count;
}

static void remove_folder(const struct fixture *fixture)
{
	DIR *folder = opendir(fixture->folder);
	struct dirent *entry;
	char path[2 * TEST_PATH_BYTES];

	while (folder && !test_files_are_left() && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), "%s/%s", fixture->folder, entry->d_name);
		unlink(path);
	}
	if (folder)
		closedir(folder);
	rmdir(fixture->folder); /* fails unless the folder is empty */
}

int fixture_renew(struct fixture *fixture)
{
	remove_folder(fixture);
	return make_folder(fixture);
}

int fixture_teardown(void **state)
{
	remove_folder(*state);
	free(*state);
	return 0;
}

int fixture_try_open(const struct fixture *fixture, uint64_t ready_bytes,
		     struct spooler **ret_spooler)
{
	struct spooler_options options = {.folder = fixture->folder, .ready_bytes = ready_bytes};

	return spooler_open(&options, ret_spooler);
}

struct spooler *fixture_open_spool(const struct fixture *fixture)
{
	struct spooler *spooler = NULL;

	assert_int_equal(fixture_try_open(fixture, SPOOLER_READY_BYTES_LEAST, &spooler), 0);
	return spooler;
}

struct writer *fixture_writer(struct spooler *spooler, const char *name)
{
	struct writer_thread thread = {.tid = (uint32_t)syscall(SYS_gettid)};

	strncpy(thread.name, name, sizeof(thread.name) - 1);
	return spooler_take_writer(spooler, &thread);
}

bool fixture_put(struct writer *w, uint64_t counter, size_t args)
{
	size_t bytes = sizeof(struct record_api) + args * 8;
	struct record_api *record = writer_reserve(w, RECORD_API, bytes);

	if (!record)
		return false;
	record->cid = counter;
	record->begin_ns = counter + 1;
	record->end_ns = counter + 2;
	for (size_t i = 0; i < args; i++)
		record->args[i] = counter;
	writer_commit(w, record, RECORD_API, bytes, (uint32_t)counter);
	return true;
}

static uint64_t chunks_left(struct spooler *spooler)
{
	const struct spool_live *live = spooler_live(spooler);
	/* Read first: the ready counter is never less than the taken counter was before. */
	uint64_t taken = atomic_load(&live->chunks_taken);

	return atomic_load(&live->chunks_ready) - taken;
}

void fixture_await_ready(struct spooler *spooler, uint64_t chunks)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	while (chunks_left(spooler) < chunks)
		nanosleep(&pause, NULL);
}

/* ---- housekeeping by another thread ---- */

static void *keep(void *argument)
{
	struct keeper *keeper = argument;

	while (!atomic_load(&keeper->is_over)) {
		while (sem_wait(&keeper->asked))
			;
		spooler_service(keeper->spooler);
		atomic_store(&keeper->chunks_reused, spooler_live(keeper->spooler)->reuse.chunks);
		pthread_mutex_lock(&keeper->lock);
		keeper->services++;
		pthread_cond_broadcast(&keeper->served);
		pthread_mutex_unlock(&keeper->lock);
	}
	return NULL;
}

void keeper_start(struct keeper *keeper, struct spooler *spooler)
{
	*keeper = (struct keeper){.spooler = spooler};
	sem_init(&keeper->asked, 0, 0);
	pthread_mutex_init(&keeper->lock, NULL);
	pthread_cond_init(&keeper->served, NULL);
	if (pthread_create(&keeper->thread, NULL, keep, keeper))
		abort();
}

void keeper_stop(struct keeper *keeper)
{
	atomic_store(&keeper->is_over, true);
	keeper_ask(keeper);
	pthread_join(keeper->thread, NULL);
	pthread_cond_destroy(&keeper->served);
	pthread_mutex_destroy(&keeper->lock);
	sem_destroy(&keeper->asked);
}

void keeper_ask(struct keeper *keeper)
{
	sem_post(&keeper->asked);
}

void keeper_await(struct keeper *keeper)
{
	uint64_t services;

	pthread_mutex_lock(&keeper->lock);
	services = keeper->services;
	keeper_ask(keeper);
	while (keeper->services == services)
		pthread_cond_wait(&keeper->served, &keeper->lock);
	pthread_mutex_unlock(&keeper->lock);
}

bool keeper_put(struct keeper *keeper, struct writer *w, uint64_t counter, size_t args)
{
	bool taken = fixture_put(w, counter, args);

	if (!taken)
		keeper_await(keeper);
	else if (counter % ASK_EVERY == 0)
		keeper_ask(keeper);
	return taken;
}

/* ---- moments ---- */

uint64_t fixture_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 20;
}

void fixture_count_to_kill(_Atomic int64_t *count)
{
	if (atomic_fetch_sub(count, 1) == 1)
		kill(getpid(), SIGKILL);
}

void fixture_await_killed(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

/* ---- reading ---- */

struct spool_reader *fixture_read(const struct fixture *fixture)
{
	struct dagtap_error error = {.message = ""};
	struct spool_reader *reader = NULL;
	char path[2 * TEST_PATH_BYTES];

	assert_int_equal(fixture_files(fixture, path, sizeof(path)), 1);
	if (spool_reader_open(path, &reader, &error))
		fail_msg("%s", error.message);
	return reader;
}

unsigned char *fixture_bytes(const struct fixture *fixture, size_t *ret_length)
{
	struct stat status;
	unsigned char *bytes;
	char path[2 * TEST_PATH_BYTES];
	FILE *file;

	assert_int_equal(fixture_files(fixture, path, sizeof(path)), 1);
	assert_int_equal(stat(path, &status), 0);
	bytes = malloc((size_t)status.st_size);
	file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fread(bytes, 1, (size_t)status.st_size, file), status.st_size);
	fclose(file);
	*ret_length = (size_t)status.st_size;
	return bytes;
}

uint64_t fixture_damage_count(const struct spool_reader *reader)
{
	uint64_t total;
	size_t kept;

	spool_reader_damages(reader, &kept, &total);
	return total;
}

void fixture_assert_sound(const struct spool_reader *reader)
{
	const struct spool_ledger *ledger = spool_reader_ledger(reader);
	const struct spool_damage *damages;
	uint64_t total;
	size_t kept;

	damages = spool_reader_damages(reader, &kept, &total);
	if (total)
		fail_msg("%llu damages, first: %s at %llu", (unsigned long long)total,
			 damages[0].cause, (unsigned long long)damages[0].offset);
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		uint64_t explained = ledger->found[class] + ledger->in_flight[class];

		for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
			explained += ledger->dropped[class][cause];
		assert_int_equal(ledger->missing[class], 0);
		assert_int_equal(ledger->attempted[class], explained);
	}
}

static void check_api(const struct spool_record *record)
{
	const struct record_api *api = (const struct record_api *)record->header;
	size_t args = (record->bytes - sizeof(*api)) / 8;

	assert_int_equal(api->begin_ns, api->cid + 1);
	assert_int_equal(api->end_ns, api->cid + 2);
	for (size_t i = 0; i < args; i++)
		assert_int_equal(api->args[i], api->cid);
}

uint64_t fixture_count(const struct spool_reader *reader, enum record_type type)
{
	struct spool_cursor cursor;
	struct spool_record record;
	uint64_t count = 0;

	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record)) {
			count += record.type == type;
			if (record.type == RECORD_API)
				check_api(&record);
		}
	}
	return count;
}

struct spool_reader *fixture_open_session(const char *folder, uint32_t n)
{
	struct spool_reader *reader = NULL;
	DIR *entries = opendir(folder);
	struct dirent *entry;

	while (entries && !reader && (entry = readdir(entries))) {
		char path[2 * TEST_PATH_BYTES];

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (!strstr(entry->d_name, SPOOL_SUFFIX) || spool_reader_open(path, &reader, NULL))
			reader = NULL;
		if (reader && spool_reader_info(reader)->session != n) {
			spool_reader_close(reader);
			reader = NULL;
		}
	}
	if (entries)
		closedir(entries);
	return reader;
}

/* SEEN: of each of SESSIONS, whether its spool was counted. */
static uint64_t count_session(const char *path, bool *seen, uint32_t sessions)
{
	struct dagtap_error error = {.message = ""};
	struct spool_reader *reader;
	uint32_t session;
	uint64_t count;

	if (spool_reader_open(path, &reader, &error))
		fail_msg("%s", error.message);
	session = spool_reader_info(reader)->session;
	assert_true(session < sessions && !seen[session]);
	seen[session] = true;
	assert_true(spool_reader_info(reader)->closed);
	fixture_assert_sound(reader);
	count = fixture_count(reader, RECORD_API);
	spool_reader_close(reader);
	return count;
}

uint64_t fixture_count_sessions(const struct fixture *fixture, uint32_t *ret_sessions)
{
	uint32_t sessions = (uint32_t)fixture_files(fixture, NULL, 0);
	bool *seen = calloc(sessions, sizeof(*seen));
	DIR *folder = opendir(fixture->folder);
	struct dirent *entry;
	uint64_t count = 0;

	assert_true(seen && folder);
	while ((entry = readdir(folder))) {
		char path[2 * TEST_PATH_BYTES];

		snprintf(path, sizeof(path), "%s/%s", fixture->folder, entry->d_name);
		if (entry->d_name[0] != '.')
			count += count_session(path, seen, sessions);
	}
	closedir(folder);
	free(seen);
	*ret_sessions = sessions;
	return count;
}
