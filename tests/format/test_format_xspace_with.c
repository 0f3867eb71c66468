/* A profile of XLA that is joined with a recording (xspace_with.h). */
#include <errno.h>

#include "../launched.h"
#include "xspace_maker.h"
#include "xspace_written.h"

#include "format/read.h"

/* The recording begins at 1000 ns of its clock and at START_NS of the wall clock. */
#define START_NS UINT64_C(1795716294883474587)

static struct scene *make_recording(void)
{
	struct scene *scene = scene_create(1000, 1);

	scene->processes[0].start_realtime_ns = START_NS;
	scene->processes[0].end_ns = 101000;
	scene->threads[0].name = scene_string(scene, "main");
	return scene;
}

/* Begins a profile that starts LATER_NS after the recording. */
static struct maker *make_profile(int64_t later_ns)
{
	struct maker *maker = keep(calloc(1, sizeof(*maker)), free);
	uint64_t start_ns = START_NS + (uint64_t)later_ns;

	maker_plane(maker, "Task Environment", 0);
	maker_plane_stats(maker, STATS(U64("profile_start_time", start_ns),
				       U64("profile_stop_time", start_ns + 100000)));
	return maker;
}

static void release_bytes(void *bytes)
{
	struct proto *proto = bytes;

	proto_release(proto);
}

static struct message join(struct scene *scene, struct maker *maker)
{
	struct read_file file = {.name = "profile"};
	const struct format_options options = {.with = &file};

	maker_finish(maker);
	keep(&maker->bytes, release_bytes);
	file.bytes = maker->bytes.bytes;
	file.size = maker->bytes.used;
	return write_xspace_with(scene, &options);
}

/* The thread's line has both in the order of time, what contains before what is contained. */
static void events_of_a_thread_are_on_its_line(void **state)
{
	static const char *const names[] = {"step", "before", "launch", "hipLaunchKernel", "after"};
	struct scene *scene = make_recording();
	struct maker *maker = make_profile(500);
	struct message space, line;
	struct xplane host;
	struct xevent event;

	/* From the recording's start: step 500 to 10500, launch 1500 to 3500, call 2000 to 3000. */
	scene_call(scene, "hipLaunchKernel", 1, 3000, 4000);
	maker_plane(maker, "/host:CPU", 0);
	maker_line(maker, -5, "main", 0);
	maker_event(maker, "launch", 1000000, 2000000, NO_STATS);
	maker_event(maker, "after", 9000000, 500000, NO_STATS);
	maker_event(maker, "before", 100000, 100000, NO_STATS);
	maker_event(maker, "step", 0, 10000000,
		    STATS(I64("_r", 1), I64("step_num", 3), REF("word", "a text")));
	space = join(scene, maker);
	host = xspace_plane(&space, "/host:CPU");
	assert_int_equal(xplane_count_lines(&host), 1);
	line = xplane_find_line(&host, "main/999");
	assert_int_equal(xline_count_events(&line), 5);
	for (unsigned i = 0; i < 5; i++)
		assert_string_equal(xline_event(&host, &line, i).name, names[i]);
	event = xplane_event(&host, "step", 0);
	assert_int_equal(event.offset_ps, 500000);
	assert_int_equal(event.duration_ps, 10000000);
	assert_number(xevent_stat(&event, "_r"), XSTAT_INT64, 1);
	assert_number(xevent_stat(&event, "step_num"), XSTAT_INT64, 3);
	assert_text(xevent_stat(&event, "word"), XSTAT_REF, "a text");
	assert_int_equal(xplane_event(&host, "hipLaunchKernel", 0).offset_ps, 2000000);
}

/* Then all times count from the profile's start. */
static void a_profile_may_begin_first(void **state)
{
	struct scene *scene = make_recording();
	struct maker *maker = make_profile(-700);
	struct message space;
	struct xplane host, environment;

	scene_call(scene, "hipLaunchKernel", 1, 3000, 4000);
	maker_plane(maker, "/host:CPU", 0);
	/* a line in wall-clock time, as before XLA's post-processing */
	maker_line(maker, 5, "main", (int64_t)START_NS - 600);
	maker_event(maker, "launch", 2000, 9000000, NO_STATS);
	space = join(scene, maker);
	host = xspace_plane(&space, "/host:CPU");
	assert_int_equal(xplane_event(&host, "hipLaunchKernel", 0).offset_ps, 2700000);
	assert_int_equal(xplane_event(&host, "launch", 0).offset_ps, 102000);
	environment = xspace_plane(&space, "Task Environment");
	assert_number(xplane_stat(&environment, "profile_start_time"), XSTAT_UINT64,
		      START_NS - 700);
}

/* Of two threads with the line's name the one whose calls are inside of its events; and a line
 * whose thread is not in the recording stays. */
static void lines_find_their_threads(void **state)
{
	struct scene *scene = make_recording();
	struct maker *maker = make_profile(0);
	uint32_t other = scene_thread(scene, 0, 1000);
	struct message space, line;
	struct xplane host;

	scene->threads[other].name = scene_string(scene, "main");
	scene_call(scene, "hipFree", 1, 3000, 4000);
	scene_call(scene, "hipLaunchKernel", 2, 6000, 7000)->thread = other;
	maker_plane(maker, "/host:CPU", 0);
	maker_line(maker, 5, "main", 0);
	maker_event(maker, "$frame", 0, 50000000, NO_STATS);
	maker_event(maker, "launch", 4000000, 5000000, NO_STATS);
	/* a call and a scope: of XLA's own tracer of GPUs, or of dagtap's plugin */
	maker_event(maker, "cuLaunchKernel", 4100000, 1000, STATS(U64("correlation_id", 2)));
	maker_event(maker, "a scope", 4200000, 1000, STATS(I64("scope_range_id", 2)));
	maker_line(maker, 6, "tf_pool/6", 0);
	maker_event(maker, "wait", 0, 1000, NO_STATS);
	space = join(scene, maker);
	host = xspace_plane(&space, "/host:CPU");
	assert_int_equal(xplane_count_lines(&host), 3);
	line = xplane_find_line(&host, "main/999");
	assert_int_equal(xline_count_events(&line), 1);
	line = xplane_find_line(&host, "main/1000");
	assert_int_equal(xline_count_events(&line), 3);
	line = xplane_find_line(&host, "tf_pool/6");
	assert_int_equal(xline_count_events(&line), 1);
	assert_int_equal(decode_number(&line, XLINE_ID), 6);
}

static void put_module(struct maker *maker)
{
	maker_plane(maker, "/host:CPU", 0);
	maker_line(maker, 5, "main", 0);
	maker_event(maker, "jit_f:XLA GPU module", 1000000, 50000000, NO_STATS);
	maker_event(maker, "Thunks::Initialize", 1000000, 500000, NO_STATS);
	maker_event(maker, "while.1", 1500000, 40000000, NO_STATS);
	maker_event(maker, "fusion.2", 1600000, 5000000, NO_STATS);
}

static void work_has_the_operation_around_its_call(void **state)
{
	struct scene *scene = make_recording();
	struct maker *maker = make_profile(0);
	struct message space;
	struct xplane device;
	struct xevent event;
	uint32_t work = scene_kernel(scene, "k", 64, 64);

	maker_plane(maker, "/host:metadata", 0);
	maker_line(maker, 1, "", 0); /* gives the plane its metadata of events */
	maker_event(maker, "jit_f(4)", 0, 0, NO_STATS);
	maker_event(maker, "jit_fg(5)", 0, 0, NO_STATS);
	put_module(maker);
	scene_call(scene, "hipLaunchKernel", 1, 3000, 4000);
	scene_activity(scene, work, 9000, 9100);
	scene_call(scene, "hipLaunchKernel", 2, 10000, 11000);
	scene_activity(scene, work, 12000, 12100);
	scene_call(scene, "hipLaunchKernel", 3, 2100, 2200);
	scene_activity(scene, work, 13000, 13100);
	scene_call(scene, "hipLaunchKernel", 4, 90000, 91000);
	scene_activity(scene, work, 92000, 92100);
	space = join(scene, maker);
	device = xspace_plane(&space, "/device:GPU:0");
	event = xplane_event(&device, "k", 0);
	assert_text(xevent_stat(&event, "hlo_op"), XSTAT_REF, "fusion.2");
	assert_text(xevent_stat(&event, "hlo_module"), XSTAT_REF, "jit_f");
	assert_text(xevent_stat(&event, "tf_op"), XSTAT_REF, "XlaModule:");
	assert_number(xevent_stat(&event, "program_id"), XSTAT_INT64, 4);
	event = xplane_event(&device, "k", 1);
	assert_text(xevent_stat(&event, "hlo_op"), XSTAT_REF, "while.1");
	/* inside of the module alone, and outside of it */
	for (unsigned i = 2; i < 4; i++) {
		event = xplane_event(&device, "k", i);
		assert_int_equal(xevent_stat(&event, "hlo_op").kind, 0);
	}
}

/* Two programs of one name: the module is known, the program is not. */
static void a_program_is_not_guessed(void **state)
{
	struct scene *scene = make_recording();
	struct maker *maker = make_profile(0);
	struct message space;
	struct xplane device;
	struct xevent event;

	maker_plane(maker, "/host:metadata", 0);
	maker_line(maker, 1, "", 0);
	maker_event(maker, "jit_f(4)", 0, 0, NO_STATS);
	maker_event(maker, "jit_f(5)", 0, 0, NO_STATS);
	put_module(maker);
	scene_call(scene, "hipLaunchKernel", 1, 3000, 4000);
	scene_activity(scene, scene_kernel(scene, "k", 64, 64), 9000, 9100);
	space = join(scene, maker);
	device = xspace_plane(&space, "/device:GPU:0");
	event = xplane_event(&device, "k", 0);
	assert_text(xevent_stat(&event, "hlo_module"), XSTAT_REF, "jit_f");
	assert_int_equal(xevent_stat(&event, "program_id").kind, 0);
}

/* A scope of the program says more than the profile. */
static void scopes_take_precedence(void **state)
{
	struct scene *scene = make_recording();
	struct maker *maker = make_profile(0);
	struct message space;
	struct xplane device;
	struct xevent event;

	put_module(maker);
	scene_attribute(scene, scene_scope(scene, "Thunk:", 1, TRACE_NONE), "hlo_op", "fusion.9");
	scene_call(scene, "hipLaunchKernel", 1, 3000, 4000)->scope = 0;
	scene_activity(scene, scene_kernel(scene, "k", 64, 64), 9000, 9100)->scope = 0;
	space = join(scene, maker);
	device = xspace_plane(&space, "/device:GPU:0");
	event = xplane_event(&device, "k", 0);
	assert_text(xevent_stat(&event, "hlo_op"), XSTAT_REF, "fusion.9");
}

static void other_planes_are_copied(void **state)
{
	struct scene *scene = make_recording();
	struct maker *maker = make_profile(500);
	struct message space, line;
	struct xplane plane;
	char name[128];

	scene_call(scene, "hipLaunchKernel", 1, 3000, 4000);
	maker_plane(maker, "/device:GPU:0", 0);
	maker_line(maker, 14, "Stream #14(Compute)", 0);
	maker_event(maker, "theirs", 0, 1000, NO_STATS);
	maker_plane(maker, "/host:tfstreamz", 0);
	maker_plane_stats(maker, STATS(BYTES("Hlo Proto", "all its bytes")));
	maker_line(maker, 3, "counters", 7);
	maker_event(maker, "counter", 1000, 1000, STATS(F64("value", 0.5)));
	maker_warning(maker, "theirs, too");
	space = join(scene, maker);
	plane = xspace_plane(&space, "/device:GPU:0");
	assert_int_equal(xplane_count_events(&plane, "theirs"), 0);
	plane = xspace_plane(&space, "/host:tfstreamz");
	assert_int_equal(xplane_stat(&plane, "Hlo Proto").kind, XSTAT_BYTES);
	assert_non_null(memmem(space.bytes, space.size, "all its bytes", 13));
	assert_non_null(memmem(space.bytes, space.size, "theirs, too", 11));
	line = xplane_line(&plane, 0, name);
	assert_int_equal(decode_number(&line, XLINE_TIMESTAMP_NS), 507);
	assert_int_equal(xplane_count_events(&plane, "counter"), 1);
}

/* ---- what cannot be joined ---- */

static int try_to_join(struct scene *scene, const void *bytes, size_t size,
		       struct dagtap_error *error)
{
	const struct read_file file = {.name = "profile", .bytes = bytes, .size = size};
	const struct format_options options = {.with = &file};
	FILE *out = test_file();
	int code;

	assert_non_null(out);
	code = format_xspace.write(&scene->trace, out, &options, error);
	fclose(out);
	return code;
}

static void expect_refusal(struct scene *scene, struct maker *maker, int code, const char *text)
{
	struct dagtap_error error = {.message = ""};

	maker_finish(maker);
	assert_int_equal(try_to_join(scene, maker->bytes.bytes, maker->bytes.used, &error), code);
	assert_non_null(strstr(error.message, text));
	proto_release(&maker->bytes);
}

static void profiles_of_another_time_are_refused(void **state)
{
	struct scene *scene = make_recording();

	expect_refusal(scene, make_profile(100001), -EINVAL, "different times");
	expect_refusal(scene, make_profile(-100001), -EINVAL, "different times");
	scene->processes[0].start_realtime_ns = 0;
	expect_refusal(scene, make_profile(0), -EINVAL, "no recording");
}

static void files_without_a_start_are_refused(void **state)
{
	struct scene *scene = make_recording();
	struct maker *maker = keep(calloc(1, sizeof(*maker)), free);

	maker_plane(maker, "/host:CPU", 0);
	expect_refusal(scene, maker, -EBADMSG, "no profile_start_time");
}

/* Each shorter file is joined or refused, and nothing is read behind its end. */
static void cut_files_are_harmless(void **state)
{
	struct scene *scene = make_recording();
	struct maker *maker = make_profile(0);
	struct dagtap_error error;

	scene_call(scene, "hipLaunchKernel", 1, 3000, 4000);
	put_module(maker);
	maker_finish(maker);
	for (size_t size = 0; size < maker->bytes.used; size++) {
		uint8_t *bytes = malloc(size + 1);
		int code;

		memcpy(bytes, maker->bytes.bytes, size);
		code = try_to_join(scene, bytes, size, &error);
		assert_true(code == 0 || code == -EBADMSG);
		free(bytes);
	}
	proto_release(&maker->bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(events_of_a_thread_are_on_its_line),
		KEPT_CASE(a_profile_may_begin_first),
		KEPT_CASE(lines_find_their_threads),
		KEPT_CASE(work_has_the_operation_around_its_call),
		KEPT_CASE(a_program_is_not_guessed),
		KEPT_CASE(scopes_take_precedence),
		KEPT_CASE(other_planes_are_copied),
		KEPT_CASE(profiles_of_another_time_are_refused),
		KEPT_CASE(files_without_a_start_are_refused),
		KEPT_CASE(cut_files_are_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
