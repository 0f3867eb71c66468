/* Another profiler subscribes to CUPTI while nothing is recorded, and while something is. CUPTI is
 * played. */
#include <dlfcn.h>
#include <pthread.h>

#include "dormant_scene.h"

#include "capture/cuda/cuda_graph_notes.h"
#include "capture/cuda/cuda_subscription.h"
#include "capture/scope.h"

uint32_t cuptiSubscribe(void **subscriber, cupti_callback *callback, void *userdata);
uint32_t cuptiUnsubscribe(void *subscriber);

static void hear_nothing(void *userdata, uint32_t domain, uint32_t cbid, const void *told)
{
}

static void another_one_asks(void)
{
	void *theirs;

	dormant_start();
	play_layers();
	play_instantiate();
	expect(cuptiSubscribe(&theirs, hear_nothing, NULL) == CUPTI_OK);
	expect(!cuda_notes_count());
	expect(cuptiUnsubscribe(theirs) == CUPTI_OK);
	dormant_record(1);
}

static void another_profiler_gets_cupti_and_a_note_says_so(void **state)
{
	struct trace *trace = play_scene(*state, another_one_asks);
	bool is_told = false;

	assert_int_equal(trace->activities_count, 3);
	for (uint32_t i = 0; i < trace->messages_count; i++)
		is_told |= strstr(trace_text(trace, trace->messages[i].text),
				  "another profiler has subscribed") != NULL;
	assert_true(is_told);
	play_assert_closed(trace);
}

static void while_a_recording_is_on(void)
{
	void *theirs;

	dormant_start();
	play_layers();
	play_instantiate();
	scope_push_nvtx(0, "step", NULL, 0);
	expect(cuptiSubscribe(&theirs, hear_nothing, NULL) == CUPTI_MULTIPLE_SUBSCRIBERS);
	scope_pop_nvtx(0);
	dormant_record(1);
}

static void during_a_recording_it_does_not(void **state)
{
	dormant_assert_known(play_scene(*state, while_a_recording_is_on), 3);
}

static int other_cupti;

static void look_up(void)
{
	void *real = (void *)hear_nothing, *ours = (void *)cuptiSubscribe;

	expect(cuda_subscription_lookup("cuptiGetVersion", real) == real);
	expect(cuda_subscription_lookup("cuptiSubscribe", real) == ours);
	expect(cuda_subscription_lookup("cuptiSubscribe", real) == ours);
	expect(cuda_subscription_lookup("cuptiSubscribe", ours) == ours);
	/* That of a second library. */
	expect(cuda_subscription_lookup("cuptiSubscribe", &other_cupti) == &other_cupti);
}

static void a_look_up_finds_ours(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, look_up), 0);
}

/* The test's own: what runs before the next library is opened. */
static void (*before_dlopen)(void);
void *__real_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags);

void *__wrap_dlopen(const char *path, int flags)
{
	void (*before)(void) = before_dlopen;

	before_dlopen = NULL;
	if (before)
		before();
	return __real_dlopen(path, flags);
}

static void *subscribe_for_a_moment(void *none)
{
	void *theirs;

	expect(cuptiSubscribe(&theirs, hear_nothing, NULL) == CUPTI_OK);
	expect(cuptiUnsubscribe(theirs) == CUPTI_OK);
	return none;
}

/* As the constructor of a library, which the loader runs under its lock. */
static void subscribe_on_another_thread(void)
{
	pthread_t thread;

	expect(pthread_create(&thread, NULL, subscribe_for_a_moment, NULL) == 0);
	pthread_join(thread, NULL);
}

static void while_cupti_is_loaded(void)
{
	before_dlopen = subscribe_on_another_thread;
	dormant_start();
	expect(!before_dlopen && model_is_subscribed());
	play_layers();
	play_instantiate();
	dormant_record(1);
}

static void another_profiler_does_not_wait_for_the_loader(void **state)
{
	dormant_assert_known(play_scene(*state, while_cupti_is_loaded), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(another_profiler_gets_cupti_and_a_note_says_so),
		PLAY_CASE(during_a_recording_it_does_not),
		PLAY_CASE(a_look_up_finds_ours),
		PLAY_CASE(another_profiler_does_not_wait_for_the_loader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
