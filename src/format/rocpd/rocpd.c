/* The rocpd writer (docs/format/rocpd.md): makes the database and calls the parts in order. */
#include "format/rocpd/rocpd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "format/format.h"
#include "format/words.h"

/* Writes a UUID of version 7: a time, and a hash in place of random bits. */
static void put_guid(char guid[ROCPD_GUID_CHARS], uint64_t ms, XXH128_hash_t hash)
{
	snprintf(guid, ROCPD_GUID_CHARS,
		 "%08" PRIx64 "-%04" PRIx64 "-7%03" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
		 ms >> 16 & UINT32_MAX, ms & 0xffff, hash.high64 & 0xfff,
		 (hash.high64 >> 16 & 0x3fff) | 0x8000, hash.low64 >> 16);
}

/* The first process has the guid of the file, so that a file of one process has one guid. */
static void name_processes(struct rocpd *rocpd)
{
	const struct trace *trace = rocpd->trace;
	const char *guid = rocpd->names.guid;

	memcpy(rocpd->guids[0], guid, ROCPD_GUID_CHARS);
	for (uint32_t i = 1; i < trace->processes_count; i++)
		put_guid(rocpd->guids[i], trace->processes[i].start_realtime_ns / 1000000,
			 XXH3_128bits_withSeed(guid, strlen(guid), i));
}

/* Names the file by what the recording is, so that an export always gives the same bytes. */
static void name_file(struct rocpd *rocpd)
{
	const struct trace *trace = rocpd->trace;
	uint64_t ms = trace->processes_count ? trace->processes[0].start_realtime_ns / 1000000 : 0;
	XXH128_hash_t hash;
	XXH3_state_t *state = XXH3_createState();

	if (!state) {
		rocpd->err = -ENOMEM;
		return;
	}
	XXH3_128bits_reset(state);
	for (uint32_t i = 0; i < trace->processes_count; i++) {
		const struct trace_process *row = &trace->processes[i];
		const uint64_t words[] = {row->pid, row->session, (uint64_t)row->start_ns,
					  (uint64_t)row->end_ns, row->start_realtime_ns};

		XXH3_128bits_update(state, words, sizeof(words));
	}
	XXH3_128bits_update(state, &trace->activities_count, sizeof(trace->activities_count));
	XXH3_128bits_update(state, &trace->calls_count, sizeof(trace->calls_count));
	hash = XXH3_128bits_digest(state);
	XXH3_freeState(state);
	put_guid(rocpd->names.guid, ms, hash);
	snprintf(rocpd->names.suffix, sizeof(rocpd->names.suffix), "_%s", rocpd->names.guid);
	for (char *at = rocpd->names.suffix; *at; at++) {
		if (*at == '-')
			*at = '_';
	}
}

static void prepare(struct rocpd *rocpd)
{
	static const struct {
		const char *table, *columns, *values;
	} rows[] = {
#define X(name, table, columns, values) {table, columns, values},
		ROCPD_INSERTS(X)
#undef X
	};

	for (size_t i = 0; i < ROCPD_INSERT_COUNT && !rocpd->err; i++)
		rocpd->err =
			rocpd_prepare_insert(rocpd->file, &rocpd->names, rows[i].table,
					     rows[i].columns, rows[i].values, &rocpd->inserts[i]);
}

/* Chooses the bases of the processes' cids: the ids of a process follow those of the one before. */
static void number_cids(struct rocpd *rocpd)
{
	const struct trace *trace = rocpd->trace;
	uint64_t base = 0;

	for (uint32_t i = 0; i < trace->calls_count; i++) {
		const struct trace_call *row = &trace->calls[i];

		if (row->cid > rocpd->bases[row->process])
			rocpd->bases[row->process] = row->cid;
	}
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		if (row->cid > rocpd->bases[row->process])
			rocpd->bases[row->process] = row->cid;
	}
	for (uint32_t i = 0; i <= trace->processes_count; i++) {
		uint64_t last = rocpd->bases[i];

		rocpd->bases[i] = base;
		base += last;
	}
}

static int init(struct rocpd *rocpd, const struct trace *trace)
{
	size_t processes = (size_t)trace->processes_count + 1;

	*rocpd = (struct rocpd){
		.trace = trace,
		.texts = calloc(trace->strings_count, sizeof(*rocpd->texts)),
		.paths = calloc((size_t)trace->scopes_count + 1, sizeof(*rocpd->paths)),
		.kernels = calloc((size_t)trace->works_count + 1, sizeof(*rocpd->kernels)),
		.guids = calloc(processes, sizeof(*rocpd->guids)),
		.bases = calloc(processes, sizeof(*rocpd->bases)),
		.nones = calloc(processes, sizeof(*rocpd->nones)),
	};
	if (!rocpd->texts || !rocpd->paths || !rocpd->kernels || !rocpd->guids || !rocpd->bases ||
	    !rocpd->nones)
		return -ENOMEM;
	number_cids(rocpd);
	name_file(rocpd);
	name_processes(rocpd);
	return rocpd->err;
}

static void release(struct rocpd *rocpd)
{
	free(rocpd->texts);
	free(rocpd->paths);
	free(rocpd->kernels);
	free(rocpd->guids);
	free(rocpd->bases);
	free(rocpd->nones);
	numbers_release(&rocpd->strings);
	numbers_release(&rocpd->symbols);
}

static void put_rows(struct rocpd *rocpd)
{
	static void (*const parts[])(struct rocpd * rocpd) = {
		prepare,	  rocpd_put_processes,	rocpd_put_clocks,
		rocpd_put_host,	  rocpd_put_activities, rocpd_put_launches,
		rocpd_put_memory, rocpd_put_places,
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !rocpd->err; i++)
		parts[i](rocpd);
}

static int fill(struct sqlite_file *file, void *context)
{
	struct rocpd *rocpd = context;

	rocpd->file = file;
	rocpd->err = rocpd_create_tables(file, &rocpd->names);
	if (!rocpd->err)
		put_rows(rocpd);
	for (size_t i = 0; i < ROCPD_INSERT_COUNT; i++)
		sqlite3_finalize(rocpd->inserts[i]);
	return rocpd->err ? rocpd->err : rocpd_create_views(file);
}

static int write_rocpd(const struct trace *trace, FILE *out, const struct format_options *options,
		       struct dagtap_error *error)
{
	struct rocpd rocpd;
	int err = init(&rocpd, trace);

	/* An error without a text of its own. */
	dagtap_error_set(error, -ENOMEM, "rocpd: out of memory");
	if (err == 0)
		err = sqlite_file_write(out, "rocpd", fill, &rocpd, error);
	release(&rocpd);
	return err;
}

const struct format format_rocpd = {
	.name = "rocpd",
	.extension = ".db",
	.way = REPLACE_NAMED,
	.help = "a SQLite database for AMD's rocpd and Optiq (docs/format/rocpd.md)",
	.is_brief = true,
	.without_waits = true,
	.write = write_rocpd,
};
