/* Analyzes schedules and checks the results: path_schedule.h. */
#include "path_schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/load.h"

const struct found *schedule_find(struct schedule *schedule, const struct path_query *query)
{
	struct found *found = &schedule->found;

	found->trace = schedule_load(schedule);
	assert_int_equal(dependencies_make(found->trace, &found->deps), 0);
	assert_int_equal(path_windows_find(found->trace, query, &found->windows), 0);
	assert_true(found->windows.count > 0);
	assert_int_equal(path_find(&found->deps, &found->windows.rows[0], &found->path), 0);
	assert_int_equal(idle_init(&found->idle, &found->deps), 0);
	path_report_init(&found->report, &found->deps);
	assert_int_equal(path_report_add(&found->report, &found->windows, 0, &found->path), 0);
	path_report_finish(&found->report);
	assert_int_equal(idle_add(&found->idle, &found->windows, 0), 0);
	idle_finish(&found->idle);
	return found;
}

const struct found *schedule_find_until(struct schedule *schedule, int64_t end)
{
	const struct path_query query = {
		.by = PATH_WINDOW_RANGE,
		.nth = PATH_WINDOW_EACH,
		.begin_ns = BASE_NS,
		.end_ns = BASE_NS + end,
	};
	const struct found *found = schedule_find(schedule, &query);

	assert_int_equal(found->report.total_ns, end);
	return found;
}

static void release(struct schedule *schedule)
{
	struct found *found = &schedule->found;

	scene_release(&schedule->scene);
	path_release(&found->path);
	path_report_release(&found->report);
	idle_release(&found->idle);
	path_windows_release(&found->windows);
	dependencies_release(&found->deps);
	trace_close(found->trace);
}

static int setup(void **state, bool is_cuda)
{
	static struct schedule schedule;

	schedule_init(&schedule, is_cuda);
	*state = &schedule;
	return 0;
}

int schedule_setup_hip(void **state)
{
	return setup(state, false);
}

int schedule_setup_cuda(void **state)
{
	return setup(state, true);
}

int schedule_teardown(void **state)
{
	release(*state);
	return 0;
}

void schedule_again(struct schedule *schedule)
{
	release(schedule);
	schedule_init(schedule, schedule->is_cuda);
}

static const char *name_of(const struct trace *trace, uint32_t activity)
{
	const struct trace_work *work = trace_work_of(trace, &trace->activities[activity]);

	return work->kind == TRACE_COPY ? "copy" : trace_text(trace, work->name);
}

uint32_t found_activity(const struct found *found, const char *name)
{
	for (uint32_t i = 0; i < found->trace->activities_count; i++) {
		if (!strcmp(name_of(found->trace, i), name))
			return i;
	}
	fail_msg("nothing is called %s", name);
	return TRACE_NONE;
}

static const char *step_name(const struct trace *trace, const struct path_step *step)
{
	if (step->activity != TRACE_NONE)
		return name_of(trace, step->activity);
	if (step->call == TRACE_NONE)
		return "";
	return trace_text(trace, trace->apis[trace->calls[step->call].api].name);
}

void expect_steps(const struct found *found, const struct expected_step *steps, uint32_t count)
{
	for (uint32_t i = 0; i < found->path.count && i < count; i++) {
		const struct path_step *step = &found->path.steps[i];

		if (step->kind != steps[i].kind || step->begin_ns != BASE_NS + steps[i].begin ||
		    step->end_ns != BASE_NS + steps[i].end ||
		    strcmp(step_name(found->trace, step), steps[i].name) != 0)
			fail_msg("step %u is %s %ld to %ld \"%s\", not %s %ld to %ld \"%s\"", i,
				 path_kind_key((enum path_kind)step->kind),
				 (long)(step->begin_ns - BASE_NS), (long)(step->end_ns - BASE_NS),
				 step_name(found->trace, step), path_kind_key(steps[i].kind),
				 (long)steps[i].begin, (long)steps[i].end, steps[i].name);
	}
	assert_int_equal(found->path.count, count);
}

static uint32_t find_stream(const struct trace *trace, uint64_t handle)
{
	for (uint32_t i = 0; i < trace->streams_count; i++) {
		if (trace->streams[i].handle == handle)
			return i;
	}
	fail_msg("no stream %lx", (unsigned long)handle);
	return TRACE_NONE;
}

void expect_stream(const struct found *found, uint64_t stream, int64_t busy,
		   const int64_t causes[IDLE_CAUSE_COUNT])
{
	const struct idle_resource *stream_order =
		idle_stream(&found->idle, find_stream(found->trace, stream));
	int64_t sum = stream_order->busy_ns;

	for (int i = 0; i < IDLE_CAUSE_COUNT; i++) {
		if (stream_order->cause_ns[i] != causes[i])
			fail_msg("stream %lx: %s is %ld, not %ld", (unsigned long)stream,
				 idle_cause_key((enum idle_cause)i),
				 (long)stream_order->cause_ns[i], (long)causes[i]);
		sum += stream_order->cause_ns[i];
	}
	assert_int_equal(stream_order->busy_ns, busy);
	assert_int_equal(sum, stream_order->window_ns);
}
