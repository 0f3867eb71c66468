/* Plays a program and compares two recordings of it: cuda_twice.h. */
#include "cuda_twice.h"

#include "analyze/dependencies.h"
#include "capture/capture_session.h"
#include "played_driver.h"

static void (*played)(void);
static enum play_calls calls_of_played;

static void play(void)
{
	if (calls_of_played == PLAY_CALLS_WITHOUT_WAITS)
		model_fail(MODEL_ENABLE, 5, CUPTI_NOT_SUPPORTED);
	if (calls_of_played == PLAY_CALLS_DEFAULT)
		play_start();
	else
		play_start_with_all_calls();
	driver_number_from(1);
	play_device(DEVICE, "GPU");
	played();
	session_stop();
}

struct trace *play_program(struct fixture *fixture, void (*program)(void), enum play_calls calls)
{
	played = program;
	calls_of_played = calls;
	return play_scene(fixture, play);
}

const struct trace_wait *play_find_wait(const struct trace *trace, uint64_t cid)
{
	for (uint32_t i = 0; i < trace->waits_count; i++)
		if (trace->waits[i].cid == cid)
			return &trace->waits[i];
	fail_msg("no wait by call %llu", (unsigned long long)cid);
	return NULL;
}

static void assert_same_stream(const struct trace *a, uint32_t stream_a, const struct trace *b,
			       uint32_t stream_b)
{
	assert_int_equal(stream_a == TRACE_NONE, stream_b == TRACE_NONE);
	if (stream_a == TRACE_NONE)
		return;
	assert_int_equal(a->streams[stream_a].handle, b->streams[stream_b].handle);
	assert_int_equal(a->streams[stream_a].context, b->streams[stream_b].context);
	assert_int_equal(a->streams[stream_a].kind, b->streams[stream_b].kind);
}

static void assert_same_producer(const struct trace *a, const struct trace_wait *wait_a,
				 const struct trace *b, const struct trace_wait *wait_b)
{
	const struct trace_event_record *of_a, *of_b;

	if (wait_a->producer == TRACE_NONE || wait_b->producer == TRACE_NONE) {
		assert_int_equal(wait_a->producer, wait_b->producer);
		return;
	}
	of_a = &a->event_records[wait_a->producer];
	of_b = &b->event_records[wait_b->producer];
	assert_int_equal(of_a->cid, of_b->cid);
	assert_int_equal(of_a->node, of_b->node);
	assert_int_equal(of_a->context, of_b->context);
	assert_same_stream(a, of_a->stream, b, of_b->stream);
}

/* A wait that failed has no row from calls. */
static void assert_same_waits(const struct trace *calls, const struct trace *kinds)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < kinds->waits_count; i++) {
		const struct trace_wait *wanted = &kinds->waits[i], *wait;

		if (wanted->result)
			continue;
		wait = play_find_wait(calls, wanted->cid);
		count++;
		assert_int_equal(wait->type, wanted->type);
		assert_int_equal(wait->context, wanted->context);
		assert_int_equal(wait->known == TRACE_KNOWN_NOT, wanted->known == TRACE_KNOWN_NOT);
		assert_int_equal(wait->call, wanted->call);
		assert_int_equal(wait->begin_ns, calls->calls[wait->call].begin_ns);
		assert_int_equal(wait->end_ns, calls->calls[wait->call].end_ns);
		assert_same_stream(calls, wait->stream, kinds, wanted->stream);
		assert_same_producer(calls, wait, kinds, wanted);
	}
	assert_int_equal(calls->waits_count, count);
	assert_int_equal(calls->event_records_count, kinds->event_records_count);
}

static void assert_same_dependencies(const struct trace *calls, const struct trace *kinds)
{
	struct dependencies a, b;

	assert_int_equal(dependencies_make(calls, &a), 0);
	assert_int_equal(dependencies_make(kinds, &b), 0);
	assert_int_equal(a.edges_count, b.edges_count);
	for (uint32_t i = 0; i < a.edges_count; i++) {
		assert_int_equal(a.edges[i].from, b.edges[i].from);
		assert_int_equal(a.edges[i].kind, b.edges[i].kind);
		assert_int_equal(a.edges[i].is_last, b.edges[i].is_last);
		assert_int_equal(a.edges[i].via == TRACE_NONE, b.edges[i].via == TRACE_NONE);
		if (a.edges[i].via != TRACE_NONE)
			assert_int_equal(calls->waits[a.edges[i].via].cid,
					 kinds->waits[b.edges[i].via].cid);
	}
	assert_int_equal(calls->activities_count, kinds->activities_count);
	assert_memory_equal(a.lists, b.lists, calls->activities_count * sizeof(*a.lists));
	assert_int_equal(a.hosts_count, b.hosts_count);
	if (a.hosts_count)
		assert_memory_equal(a.hosts, b.hosts, a.hosts_count * sizeof(*a.hosts));
	assert_int_equal(a.resolved_waits, b.resolved_waits);
	assert_int_equal(a.unresolved_count, b.unresolved_count);
	dependencies_release(&a);
	dependencies_release(&b);
}

struct trace *play_twice(struct fixture *fixture, void (*program)(void))
{
	struct trace *calls = play_program(fixture, program, PLAY_CALLS_DEFAULT);
	struct trace *kinds = play_program(fixture, program, PLAY_CALLS_ALL);

	assert_true(kinds->waits_count > 0);
	assert_same_waits(calls, kinds);
	assert_same_dependencies(calls, kinds);
	play_assert_closed(calls);
	play_assert_closed(kinds);
	return calls;
}

uint64_t play_producer_of(const struct trace *trace, uint64_t cid)
{
	const struct trace_wait *wait = play_find_wait(trace, cid);

	return wait->producer == TRACE_NONE ? 0 : trace->event_records[wait->producer].cid;
}
