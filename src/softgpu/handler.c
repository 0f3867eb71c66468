/* The handler thread, which runs async handlers and async functions. Its lock protects the lists;
 * no callback runs under it. */
#include "softgpu/handler.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/timer.h"
#include "softgpu/api.h"
#include "softgpu/counters.h"
#include "softgpu/schedule.h"
#include "softgpu/signal_block.h"
#include "softgpu/signal_epoch.h"
#include "softgpu/softgpu_threads.h"
#include "softgpu/system_state.h"

struct handler {
	hsa_signal_condition_t condition;
	hsa_signal_value_t compare;
	hsa_amd_signal_handler callback;
	void *argument;
	uint64_t era;	      /* value of runtime.era when the handler was armed */
	struct handler *next; /* on the signal's list */
};

/* A function of hsa_amd_async_function. It runs once, in the order of the calls. */
struct function {
	void (*callback)(void *argument);
	void *argument;
	struct function *next;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct softgpu_signal *ready_head; /* signals that have changed and have handlers */
	struct softgpu_signal *ready_tail;
	struct function *function_head;
	struct function *function_tail;
	pthread_cond_t settled; /* one more signal or function is done */
	pthread_t thread;	/* valid if has_thread */
	uint64_t queued, done;	/* signals and functions that were queued, and that are done */
	uint64_t era;		/* shut-downs so far: handlers of an earlier era are not called */
	bool is_calling;	/* the thread is inside a callback */
	bool has_thread;
	bool is_guarded; /* the lock was registered for fork */
	struct schedule_party party;
} runtime = {.lock = PTHREAD_MUTEX_INITIALIZER,
	     .wake = PTHREAD_COND_INITIALIZER,
	     .settled = PTHREAD_COND_INITIALIZER};

/* With the lock held. */
static void count_queued(void)
{
	runtime.queued++;
	pthread_cond_signal(&runtime.wake);
	if (schedule_is_on())
		schedule_bump_epoch();
}

/* With the lock held. */
static void queue_signal(struct softgpu_signal *signal)
{
	if (signal->is_queued || !atomic_load(&signal->armed))
		return;
	signal->is_queued = 1;
	signal->ready_next = NULL;
	if (runtime.ready_head)
		runtime.ready_tail->ready_next = signal;
	else
		runtime.ready_head = signal;
	runtime.ready_tail = signal;
	count_queued();
}

void handler_notify(struct softgpu_signal *signal)
{
	pthread_mutex_lock(&runtime.lock);
	queue_signal(signal);
	pthread_mutex_unlock(&runtime.lock);
}

/* With the lock held. */
static void link_handler(struct softgpu_signal *signal, struct handler *handler)
{
	handler->next = atomic_load(&signal->armed);
	atomic_store(&signal->armed, handler);
}

/* With the lock held. Removes the first handler whose condition holds for VALUE from the signal's
 * list and returns it; NULL when there is none. */
static struct handler *take_satisfied(struct softgpu_signal *signal, int64_t value)
{
	struct handler *before = NULL;
	struct handler *handler = atomic_load(&signal->armed);

	while (handler && !signal_condition_holds(handler->condition, value, handler->compare)) {
		before = handler;
		handler = handler->next;
	}
	if (handler && before)
		before->next = handler->next;
	else if (handler)
		atomic_store(&signal->armed, handler->next);
	return handler;
}

/* With the lock held, which is released during the callback. Returns whether the handler stays
 * armed. */
static bool call_handler(const struct handler *handler, int64_t value)
{
	bool stays;

	if (handler->era != runtime.era)
		return false;
	runtime.is_calling = true;
	pthread_mutex_unlock(&runtime.lock);
	stays = handler->callback(value, handler->argument);
	softgpu_count(handlers_run, 1);
	pthread_mutex_lock(&runtime.lock);
	runtime.is_calling = false;
	return stays;
}

/* With the lock held, which is released during the callback. Runs one handler of SIGNAL. */
static void run_signal(struct softgpu_signal *signal)
{
	int64_t value = __atomic_load_n(&signal->amd.value, __ATOMIC_SEQ_CST);
	struct handler *handler = take_satisfied(signal, value);
	bool stays;

	if (!handler)
		return;
	stays = call_handler(handler, value);
	if (stays)
		link_handler(signal, handler);
	else
		free(handler);
	/* The conditions of other handlers may hold too, or of the same one again. */
	queue_signal(signal);
	if (stays)
		return;
	pthread_mutex_unlock(&runtime.lock);
	signal_release(signal_handle(signal));
	pthread_mutex_lock(&runtime.lock);
}

/* With the lock held, which is released during the callback. */
static void run_function(void)
{
	struct function *function = runtime.function_head;

	runtime.function_head = function->next;
	runtime.is_calling = true;
	pthread_mutex_unlock(&runtime.lock);
	function->callback(function->argument);
	free(function);
	pthread_mutex_lock(&runtime.lock);
	runtime.is_calling = false;
}

/* With the lock held, which is released during the callback. Returns false when nothing is due. */
static bool run_next(void)
{
	struct softgpu_signal *signal = runtime.ready_head;

	if (runtime.function_head) {
		run_function();
	} else if (signal) {
		runtime.ready_head = signal->ready_next;
		signal->is_queued = 0;
		run_signal(signal);
	} else {
		return false;
	}
	runtime.done++;
	pthread_cond_broadcast(&runtime.settled);
	return true;
}

/* The thread's loop with a schedule: one callback for each turn. Does not return. */
static void run_scheduled(void)
{
	for (;;) {
		uint32_t seen = signal_epoch();
		bool is_due;

		pthread_mutex_lock(&runtime.lock);
		is_due = runtime.function_head || runtime.ready_head;
		pthread_mutex_unlock(&runtime.lock);
		if (schedule_wait(&runtime.party, seen, is_due, false) < 0)
			continue;
		pthread_mutex_lock(&runtime.lock);
		run_next();
		pthread_mutex_unlock(&runtime.lock);
		schedule_turn_ends(&runtime.party);
	}
}

static void *handler_thread(void *unused)
{
	if (schedule_is_on())
		run_scheduled();
	pthread_mutex_lock(&runtime.lock);
	for (;;)
		if (!run_next())
			pthread_cond_wait(&runtime.wake, &runtime.lock);
	return NULL;
}

/* With the lock held. */
static void drop_functions(void)
{
	while (runtime.function_head) {
		struct function *function = runtime.function_head;

		runtime.function_head = function->next;
		free(function);
		runtime.done++;
	}
}

void handler_shut_down(void)
{
	uint64_t due;

	if (process_is_forked_child())
		return;
	pthread_mutex_lock(&runtime.lock);
	if (runtime.has_thread && !pthread_equal(pthread_self(), runtime.thread)) {
		due = runtime.queued;
		while (runtime.done < due)
			pthread_cond_wait(&runtime.settled, &runtime.lock);
		runtime.era++;
		drop_functions();
		while (runtime.is_calling)
			pthread_cond_wait(&runtime.settled, &runtime.lock);
	}
	pthread_mutex_unlock(&runtime.lock);
}

/* Runs at exit, before HIP's destructors: waits until the callbacks that are due have run, at most
 * TIMER_SOFTGPU_SETTLE. HIP's destructors free objects that its callbacks free too. The interrupts
 * of a real GPU come within microseconds, but the handler thread may have waited for a CPU. */
static void settle_at_exit(void)
{
	struct timer_limit limit = timer_start(TIMER_SOFTGPU_SETTLE);
	uint64_t due;

	if (process_is_forked_child() || pthread_equal(pthread_self(), runtime.thread))
		return;
	/* With a limit: a thread that calls exit in a POSIX signal handler may hold the lock. */
	if (!timer_lock(&runtime.lock, limit))
		return;
	due = runtime.queued;
	while (runtime.done < due && timer_wait_for(&runtime.settled, &runtime.lock, limit))
		;
	pthread_mutex_unlock(&runtime.lock);
}

/* With the lock held. Starts the handler thread if there is none. It lives as long as the process,
 * because a program may exit while callbacks are armed, as with ROCr. Returns 0 or a negative
 * errno. */
static int need_thread(void)
{
	int err;

	if (runtime.has_thread)
		return 0;
	runtime.party.runs_callbacks = true;
	if (schedule_is_on())
		schedule_join(&runtime.party);
	err = process_start_thread(&runtime.thread, "softgpu-events", handler_thread, NULL);
	if (err && schedule_is_on())
		schedule_leave(&runtime.party);
	if (err)
		return err;
	pthread_detach(runtime.thread);
	runtime.has_thread = true;
	atexit(settle_at_exit);
	return 0;
}

static void guard_lock(void)
{
	pthread_mutex_lock(&runtime.lock);
	if (runtime.is_guarded) {
		pthread_mutex_unlock(&runtime.lock);
		return;
	}
	runtime.is_guarded = true;
	pthread_mutex_unlock(&runtime.lock);
	process_guard_lock(&runtime.lock);
}

static hsa_status_t arm(hsa_signal_t signal, const struct handler *wanted)
{
	struct handler *handler = malloc(sizeof(*handler));
	struct softgpu_signal *block = signal_block(signal);
	int err;

	if (!handler || !signal_retain(signal)) {
		free(handler);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	*handler = *wanted;
	pthread_mutex_lock(&runtime.lock);
	handler->era = runtime.era;
	err = need_thread();
	if (!err) {
		link_handler(block, handler);
		/* The condition may already hold. */
		queue_signal(block);
	}
	pthread_mutex_unlock(&runtime.lock);
	if (err) {
		signal_release(signal);
		free(handler);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	softgpu_count(handlers_armed, 1);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t cond,
						  hsa_signal_value_t value,
						  hsa_amd_signal_handler handler, void *arg)
{
	const struct softgpu_signal *block = signal_block(signal);
	struct handler wanted = {cond, value, handler, arg, 0, NULL};

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!handler || cond > HSA_SIGNAL_CONDITION_GTE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!block || block->kind != SIGNAL_INTERRUPT) {
		softgpu_count(handlers_refused, 1);
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	}
	guard_lock();
	return arm(signal, &wanted);
}

hsa_status_t softgpu_hsa_amd_async_function(void (*callback)(void *arg), void *arg)
{
	struct function *function;
	int err;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	function = malloc(sizeof(*function));
	if (!function)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*function = (struct function){callback, arg, NULL};
	guard_lock();
	pthread_mutex_lock(&runtime.lock);
	err = need_thread();
	if (!err) {
		if (runtime.function_head)
			runtime.function_tail->next = function;
		else
			runtime.function_head = function;
		runtime.function_tail = function;
		count_queued();
	}
	pthread_mutex_unlock(&runtime.lock);
	if (err)
		free(function);
	return err ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_SUCCESS;
}
