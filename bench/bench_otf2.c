/*
 * Measures what writing the reference run as an OTF2 archive costs: CPU time of a process of its
 * own, with the trace loaded, files included. The floor is the bare library, which writes as many
 * events with the same attributes, all of the same value, to one location of an archive.
 */
#include <errno.h>
#include <ftw.h>
#include <otf2/otf2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "format/folder.h"
#include "format/format.h"
#include "format/words.h"
#include "reference_floors.h"
#include "reference_input.h"
#include "reference_spool.h"
#include "trace/load.h"

#define RUNS	    5
#define PATH_MOST   512
#define CHUNK_BYTES (1 << 20)

static struct reference_input input = {.steps = REFERENCE_STEPS};

/* The activities and scopes alone, then with all calls. */
enum part { ACTIVITIES, ALL, PARTS };

struct report {
	int error;
	double rows[PARTS];
	double seconds[PARTS][RUNS], floor_seconds[PARTS][RUNS];
};

struct work {
	const char *spool, *folder;
};

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *at)
{
	return remove(path);
}

static double seconds_since(struct cpu_seconds begin)
{
	struct cpu_seconds seconds = cpu_since(begin);

	return cpu_sum(&seconds);
}

static OTF2_FlushType before_flush(void *user, OTF2_FileType type, OTF2_LocationRef location,
				   void *caller, bool final)
{
	return OTF2_FLUSH;
}

/* An archive with one location. */
struct floor {
	OTF2_Archive *archive;
	OTF2_EvtWriter *events;
	OTF2_AttributeList *attributes;
	uint64_t ns;
};

static void add_u64(struct floor *floor, uint32_t attribute, bool has)
{
	if (has)
		OTF2_AttributeList_AddUint64(floor->attributes, attribute, UINT64_C(1) << 20);
}

static void add_u32(struct floor *floor, uint32_t attribute, bool has)
{
	if (has)
		OTF2_AttributeList_AddUint32(floor->attributes, attribute, 1);
}

static void add_string(struct floor *floor, uint32_t attribute, bool has)
{
	if (has)
		OTF2_AttributeList_AddStringRef(floor->attributes, attribute, 1000);
}

static void put_event(struct floor *floor)
{
	OTF2_EvtWriter_Enter(floor->events, floor->attributes, floor->ns, 100);
	OTF2_EvtWriter_Leave(floor->events, NULL, floor->ns + 1000, 100);
	floor->ns += 2000;
}

static void put_activity(struct floor *floor, const struct trace *trace,
			 const struct trace_activity *row)
{
	bool is_launch = row->launch != TRACE_NONE;

	add_string(floor, 0, true);
	add_u64(floor, 1, row->cid);
	add_u64(floor, 2, words_activity_graph(trace, row) != TRACE_NONE);
	add_u64(floor, 3, is_launch);
	add_u64(floor, 4, is_launch);
	add_u32(floor, 5, row->node != TRACE_NONE);
	add_string(floor, 7, trace_scope_of(trace, row) != TRACE_NONE);
	add_u64(floor, 9, trace_work_of(trace, row)->bytes);
	put_event(floor);
}

static void put_call(struct floor *floor, const struct trace_call *row)
{
	add_string(floor, 0, true);
	add_u64(floor, 1, true);
	add_u64(floor, 3, row->launch != TRACE_NONE);
	add_u64(floor, 4, row->launch != TRACE_NONE);
	add_u32(floor, 11, row->stream != TRACE_NONE);
	put_event(floor);
}

/* Writes as many events to PATH as the format does. */
static int put_floor(const struct trace *trace, const char *path)
{
	static const OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = before_flush};
	struct floor floor = {
		.archive =
			OTF2_Archive_Open(path, "floor", OTF2_FILEMODE_WRITE, CHUNK_BYTES,
					  CHUNK_BYTES, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE),
		.attributes = OTF2_AttributeList_New(),
	};

	if (!floor.archive || !floor.attributes)
		return -EIO;
	OTF2_Archive_SetFlushCallbacks(floor.archive, &callbacks, NULL);
	OTF2_Archive_SetSerialCollectiveCallbacks(floor.archive);
	OTF2_Archive_OpenEvtFiles(floor.archive);
	floor.events = OTF2_Archive_GetEvtWriter(floor.archive, 0);
	for (uint32_t i = 0; i < trace->activities_count; i++)
		put_activity(&floor, trace, &trace->activities[i]);
	for (uint32_t i = 0; i < trace->calls_count; i++)
		put_call(&floor, &trace->calls[i]);
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		add_string(&floor, 0, true);
		add_u64(&floor, 8, true);
		put_event(&floor);
	}
	OTF2_Archive_CloseEvtWriter(floor.archive, floor.events);
	OTF2_Archive_CloseEvtFiles(floor.archive);
	OTF2_AttributeList_Delete(floor.attributes);
	return OTF2_Archive_Close(floor.archive) == OTF2_SUCCESS ? 0 : -EIO;
}

static int measure_part(const struct trace *trace, const char *folder, double *ret_seconds,
			double *ret_floor)
{
	struct dagtap_error error = {.message = ""};
	struct cpu_seconds begin = cpu_now();
	char path[PATH_MOST];
	int code;

	snprintf(path, sizeof(path), "%s/archive", folder);
	code = folder_write(&format_otf2, trace, path, false, NULL, &error);
	*ret_seconds = seconds_since(begin);
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	if (code < 0)
		return bench_fail(code, "%s", error.message);
	begin = cpu_now();
	code = put_floor(trace, path);
	*ret_floor = seconds_since(begin);
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return code;
}

static void measure(const void *context, void *ret_report)
{
	const struct work *work = context;
	struct report *report = ret_report;
	struct trace_options brief = {.is_brief = true, .without_waits = true};
	struct dagtap_error error;
	struct trace parts[PARTS];
	struct trace *trace;

	report->error = trace_open(work->spool, &brief, &trace, &error);
	if (report->error < 0) {
		fprintf(stderr, "dagtap-bench: %s\n", error.message);
		return;
	}
	parts[ALL] = parts[ACTIVITIES] = *trace;
	parts[ACTIVITIES].calls_count = 0;
	report->rows[ACTIVITIES] = (double)trace->activities_count + trace->scopes_count;
	report->rows[ALL] = report->rows[ACTIVITIES] + trace->calls_count;
	for (int i = 0; i < RUNS; i++) {
		for (int part = 0; part < PARTS && report->error >= 0; part++)
			report->error =
				measure_part(&parts[part], work->folder, &report->seconds[part][i],
					     &report->floor_seconds[part][i]);
	}
	trace_close(trace);
}

static int measure_spool(const char *spool, const char *folder, struct bench_result *result)
{
	struct work work = {spool, folder};
	struct report report = {0};
	int error = run_alone("load and write", measure, &work, &report, sizeof(report));
	double seconds[PARTS], floors[PARTS];

	if (error)
		return error;
	for (int part = 0; part < PARTS; part++) {
		seconds[part] = bench_median(report.seconds[part], RUNS);
		floors[part] = bench_median(report.floor_seconds[part], RUNS);
	}
	bench_add(result, "activities", "n", report.rows[ACTIVITIES],
		  "kernels, copies and memsets, and scopes");
	bench_add(result, "rows", "n", report.rows[ALL], "with calls");
	bench_add(result, "million_activities", "s",
		  seconds[ACTIVITIES] * 1e6 / report.rows[ACTIVITIES],
		  "CPU for a million of them; at most 0.3 is the goal");
	bench_add(result, "million_floor", "s", floors[ACTIVITIES] * 1e6 / report.rows[ACTIVITIES],
		  "floor: the bare library, the same events");
	bench_add(result, "million_rows", "s", seconds[ALL] * 1e6 / report.rows[ALL],
		  "CPU for a million rows of all kinds");
	bench_add(result, "million_rows_floor", "s", floors[ALL] * 1e6 / report.rows[ALL],
		  "floor: the bare library, the same events");
	return 0;
}

static int run(struct bench_result *ret_result)
{
	return reference_input_use(&input, measure_spool, ret_result);
}

static int take(int argc, char **argv)
{
	return reference_input_take(&input, argc, argv);
}

const struct bench bench_otf2 = {
	.name = "otf2",
	.help = "writing a run of 8.5 million events as an OTF2 archive",
	.options = REFERENCE_INPUT_HELP,
	.run = run,
	.take = take,
};
