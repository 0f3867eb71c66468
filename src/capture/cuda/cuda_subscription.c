/* Subscribes to CUPTI and gives the subscription up; see cuda_subscription.h. */
#include "capture/cuda/cuda_subscription.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/dlsym_entry.h"
#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/cuda/cuda_graph_notes.h"
#include "capture/cuda/cuda_selection.h"
#include "capture/cuda/cupti.h"
#include "capture/env.h"
#include "capture/owner_lock.h"
#include "capture/visible.h"

#define REASON_BYTES 512

typedef uint32_t subscribe_function(void **subscriber, cupti_callback *callback, void *userdata);

static subscribe_function subscribe_for_program;
/* An alias, so that our own address is known where another library has the name first. */
CAPTURE_EXPORT subscribe_function cuptiSubscribe __attribute__((alias("subscribe_for_program")));

static struct owner_lock lock;
static bool is_subscribed;	     /* under the lock, as the next two */
static void *subscriber;	     /* CUPTI's handle of us */
static cupti_callback *our_callback; /* of the last subscription */

/* CUPTI's function behind ours, as the program has looked it up. NULL: it has not. */
static subscribe_function *_Atomic looked_up;

/* Whether the program's calls of cuptiSubscribe reach ours. Libraries that are loaded later come
 * behind in the search. */
static bool is_in_front(void)
{
	enum { UNKNOWN, YES, NO };
	static _Atomic int answer;

	if (atomic_load(&answer) == UNKNOWN)
		atomic_store(&answer,
			     dlsym(RTLD_DEFAULT, "cuptiSubscribe") == (void *)subscribe_for_program
				     ? YES
				     : NO);
	return atomic_load(&answer) == YES;
}

/* Whether graphs are followed while nothing is recorded. Call without the lock: the loader's lock
 * comes before ours, because constructors of libraries subscribe to CUPTI. */
static bool follows_graphs(void)
{
	return switch_is_armed() && env_text(ENV_CUDA_DORMANT)[0] != '0' && session_may_record() &&
	       (switch_takes_calls() || is_in_front());
}

/* Returns false if the holder does not go on: it is stopped, or a signal handler has interrupted
 * it. */
static bool take_lock(void)
{
	return owner_lock_take(&lock, timer_start(TIMER_SESSION_CHANGE));
}

static bool fail(uint32_t result, char *ret_reason, size_t reason_bytes)
{
	cupti_describe("cuptiSubscribe", result, ret_reason, reason_bytes);
	return false;
}

/* Call with the lock, after cupti_load. */
static bool subscribe(cupti_callback *callback, char *ret_reason, size_t reason_bytes)
{
	uint32_t result;

	if (is_subscribed)
		return true;
	/* First of all, so that another subscriber is not disturbed. */
	result = cupti.subscribe(&subscriber, callback, NULL);
	if (result != CUPTI_OK)
		return fail(result, ret_reason, reason_bytes);
	is_subscribed = true;
	our_callback = callback;
	if (switch_takes_calls())
		cuda_selection_enable_profiler(subscriber);
	return true;
}

/* Call with the lock. */
static void unsubscribe(void)
{
	cupti.unsubscribe(subscriber);
	is_subscribed = false;
}

bool cuda_subscription_begin(cupti_callback *callback, char *ret_reason, size_t reason_bytes)
{
	bool follows = follows_graphs(), done;

	if (cupti_load(ret_reason, reason_bytes) < 0)
		return false;
	if (!take_lock()) {
		snprintf(ret_reason, reason_bytes,
			 "another thread does not end its subscription to CUPTI");
		return false;
	}
	done = subscribe(callback, ret_reason, reason_bytes);
	if (done && follows)
		cuda_notes_keep();
	owner_lock_release(&lock);
	return done;
}

void *cuda_subscriber(void)
{
	return subscriber;
}

/* Asks for the callbacks about graphs, and for none of launches. Call with the lock. */
static void follow_graphs(void)
{
	if (cuda_selection_enable_graphs(subscriber) == CUPTI_OK)
		cuda_notes_keep();
	else if (!switch_takes_calls())
		unsubscribe();
}

/* Callbacks of single calls are not disabled while threads may be inside of these calls: CUPTI
 * would number these threads' calls wrongly (docs/cuda.md). So where there are graphs to be
 * followed, or with --wait, whose caller may be in a callback, we stay subscribed with all
 * callbacks. Without a graph nothing is missed while we subscribe anew. */
static void keep_graphs(void)
{
	char reason[REASON_BYTES];

	if (switch_takes_calls() || cuda_notes_count())
		return;
	unsubscribe();
	if (subscribe(our_callback, reason, sizeof(reason)))
		follow_graphs();
	else
		cuda_notes_end();
}

void cuda_subscription_end(void)
{
	bool follows = follows_graphs();

	/* Otherwise the subscription stays for the next recording. */
	if (!take_lock())
		return;
	if (is_subscribed && follows) {
		keep_graphs();
	} else if (is_subscribed && !switch_takes_calls()) {
		unsubscribe();
		cuda_notes_end();
	}
	owner_lock_release(&lock);
}

void cuda_subscription_await(cupti_callback *callback)
{
	char reason[REASON_BYTES];
	bool follows = follows_graphs(), done = false;

	if (!follows && !switch_takes_calls())
		return;
	if (cupti_load(reason, sizeof(reason)) == 0 && take_lock()) {
		done = subscribe(callback, reason, sizeof(reason));
		if (done && follows)
			follow_graphs();
		owner_lock_release(&lock);
	}
	if (!done && switch_takes_calls())
		switch_note("capture range: not followed: cudaProfilerStart, because CUPTI could "
			    "not be subscribed to when CUDA started");
}

void cuda_subscription_forget(void)
{
	owner_lock_forget(&lock);
	is_subscribed = false;
	cuda_notes_forget_parent();
}

/* ---- another profiler of the process ---- */

/* Whether the subscription is kept for graphs alone. A recording that is about to start asks for it
 * again under the lock. */
static bool may_be_given(void)
{
	int state = atomic_load(&session_state);

	return is_subscribed && !switch_takes_calls() &&
	       (state == SESSION_IDLE || state == SESSION_STOPPED || state == SESSION_OFF);
}

static void give(void)
{
	bool are_lost = false;

	if (!take_lock())
		return;
	if (may_be_given()) {
		unsubscribe();
		are_lost = cuda_notes_end();
	}
	owner_lock_release(&lock);
	if (are_lost)
		switch_note("cuda: graphs that were made before are not known, because another "
			    "profiler has subscribed to CUPTI meanwhile");
}

/* Returns CUPTI's function in the scope of the library that has CALLER in its code; NULL: there is
 * none. Extension modules of Python are loaded with RTLD_LOCAL, so that their CUPTI is in no other
 * scope. */
static subscribe_function *find_beside(const void *caller)
{
	void *found, *library;
	Dl_info info;

	if (!dladdr(caller, &info) || !info.dli_fname)
		return NULL;
	library = dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
	if (!library)
		return NULL;
	found = dlsym_inner(library, "cuptiSubscribe");
	dlclose(library);
	return (subscribe_function *)found;
}

static subscribe_function *or_none(subscribe_function *found)
{
	return found == subscribe_for_program ? NULL : found;
}

/* Returns the function that the call from CALLER would have reached without ours. */
static subscribe_function *find_real(const void *caller)
{
	subscribe_function *real = or_none(atomic_load(&looked_up));
	char reason[REASON_BYTES];

	if (!real)
		real = or_none((subscribe_function *)dlsym(RTLD_NEXT, "cuptiSubscribe"));
	if (!real)
		real = or_none(find_beside(caller));
	if (!real && cupti_load(reason, sizeof(reason)) == 0)
		real = cupti.subscribe;
	return real;
}

static uint32_t subscribe_for_program(void **ret_subscriber, cupti_callback *callback,
				      void *userdata)
{
	subscribe_function *real = find_real(__builtin_return_address(0));

	if (!real)
		return CUPTI_NOT_INITIALIZED;
	give();
	return real(ret_subscriber, callback, userdata);
}

/* Ours passes its calls to one library. A program that has a second CUPTI gets its function as it
 * is; CUPTI's subscriber is then told of another one as without dagtap. */
void *cuda_subscription_lookup(const char *name, void *found)
{
	subscribe_function *none = NULL, *real = (subscribe_function *)found;

	if (strcmp(name, "cuptiSubscribe") != 0 || real == subscribe_for_program)
		return found;
	if (atomic_compare_exchange_strong(&looked_up, &none, real) || none == real)
		return (void *)subscribe_for_program;
	return found;
}
