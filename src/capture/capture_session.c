/* The session: start, stop and fork; see capture_session.h. session_thread.c binds threads to
 * writers, capture_sources.c calls the hooks of the capture sources. */
#include "capture/capture_session.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/timer.h"
#include "capture/capture_sources.h"
#include "capture/early_range.h"
#include "capture/env.h"
#include "capture/frame.h"
#include "capture/housekeeper.h"
#include "capture/log.h"
#include "capture/scope_stack.h"
#include "record/loss_word.h"
#include "record/spooler.h"

/* Whether the calling thread starts or stops the session, or is about to. A signal handler on it
 * must not wait for it. */
static __thread volatile sig_atomic_t is_changing __attribute__((tls_model("initial-exec")));
static _Atomic bool is_ending; /* session_end was called */

static pthread_once_t first_start_once = PTHREAD_ONCE_INIT;
static pthread_once_t clock_once = PTHREAD_ONCE_INIT;

/* Writes into the trace that capture_sources_stop failed. */
static void tell_unstopped(void)
{
	session_note("stopped while a tick or the start of a capture source was still running: "
		     "the last witnesses are missing");
	session_witness(WITNESS_SESSION_PARTS_NOT_STOPPED, 1);
}

/* ---- fork ---- */

static void forget_parent(void)
{
	is_changing = 0;
	session_thread_writer = NULL;
	session_thread_recording = NULL;
	session_thread_tid = 0;
	atomic_store_explicit(&session_last_cid, 0, memory_order_relaxed);
	atomic_store_explicit(&session_number, 0, memory_order_relaxed);
	atomic_store_explicit(&is_ending, false, memory_order_relaxed);
	recording_forget();
	housekeeper_forget();
	frame_counts_forget_parent();
	scope_stack_forget_parent();
	early_ranges_forget_parent();
	capture_sources_forget_parent();
}

static void after_fork_in_child(void)
{
	/* OFF without a spool: the parent never recorded, and the child does not either. */
	if (!recording_spooler() &&
	    atomic_load_explicit(&session_state, memory_order_relaxed) == SESSION_OFF)
		return;
	forget_parent();
	atomic_store_explicit(&session_state, SESSION_IDLE, memory_order_release);
}

/* ---- changes ---- */

/* Changes the state from FROM to TO if it is FROM. On success the calling thread starts or stops
 * the session, and calls end_change. */
static bool begin_change(int from, enum session_state to, int *ret_state)
{
	/* Set first: with a thread id that is stored after the exchange, a signal handler in
	 * between would wait for its own thread. */
	is_changing++;
	*ret_state = from;
	if (atomic_compare_exchange_strong(&session_state, ret_state, to))
		return true;
	is_changing--;
	return false;
}

/* Release: what the thread has done comes before the state; pairs with the acquire in
 * wait_while. */
static void end_change(enum session_state state)
{
	atomic_store(&session_state, state);
	is_changing--;
}

/* ---- start ---- */

static void choose_clock(void)
{
	if (env_is_set(ENV_CLOCK) && clock_take_page(env_text(ENV_CLOCK)))
		log_line("no clock at %s", env_text(ENV_CLOCK));
}

/* Runs before the first start. The fork handler must be in place by then: a child that is forked
 * during a start has no thread that completes it. The clock is chosen before the first record,
 * so that all times are of one clock. */
static void prepare_first_start(void)
{
	pthread_atfork(NULL, NULL, after_fork_in_child);
	timer_configure(env_text(ENV_TIMERS));
	pthread_once(&clock_once, choose_clock);
}

/* Registered here and not when the library is loaded: by now the vendor's runtime has registered
 * its own exit handler, and handlers run in reverse order, so ours runs before it. */
static void watch_end(void)
{
	static _Atomic bool watched;

	if (!atomic_exchange(&watched, true))
		atexit(session_end);
}

/* Leaves an empty file whose name tells the program that gathers the spools that this process
 * has none, and why; a full disk has room for that. The file is made with mknod and not opened,
 * since there may be no free descriptor. */
static bool leave_file(const char *folder, int err)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%ld.%d" SPOOL_LOST_SUFFIX, folder, (long)getpid(),
			-err) < (int)sizeof(path) &&
	       (mknod(path, S_IFREG | 0600, 0) == 0 || errno == EEXIST);
}

/* Best effort: there is no other way to report it. */
static void send_word(const struct loss_address *recorder, struct loss_word *word)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct timer_limit limit = timer_start(TIMER_LOSS_WORD);
	int result;

	prctl(PR_GET_NAME, word->name, 0, 0, 0);
	while ((result = loss_word_send(recorder, word)) == -EAGAIN && !timer_is_over(limit))
		nanosleep(&pause, NULL);
	log_line("%s", result ? "nobody hears that this is not recorded" : "told the recorder");
}

/* Tells the recorder that this process uses a GPU and has no spool in FOLDER, because of ERR, a
 * negative errno. */
static void leave_word(const char *folder, int err)
{
	struct loss_word word = {.reason = LOSS_NO_SPOOL, .code = -err};
	struct loss_address recorder;

	if (!leave_file(folder, err) && loss_address_parse(env_text(ENV_RECORDER), &recorder))
		send_word(&recorder, &word);
}

/* A parent may have changed DAGTAP_SPOOL for this process. Tells the recorder that the spool is
 * not in its folder. */
static void tell_other_folder(const char *folder)
{
	struct loss_word word = {.reason = *folder ? LOSS_OTHER_FOLDER : LOSS_UNSET};
	struct loss_address recorder;

	if (!loss_address_parse(env_text(ENV_RECORDER), &recorder) ||
	    !strcmp(recorder.folder, folder))
		return;
	memcpy(word.text, folder, strnlen(folder, sizeof(word.text)));
	send_word(&recorder, &word);
}

static int start_recording(struct spooler *spooler)
{
	int err = housekeeper_start(spooler, capture_sources_tick);

	if (err)
		return err;
	/* The number changes first: a call of the last session that returns now has to find that
	 * its session has ended. */
	atomic_fetch_add(&session_number, 1);
	err = recording_begin(spooler);
	if (err) {
		housekeeper_stop();
		return err;
	}
	recording_release_old();
	return 0;
}

/* With an age alone the ring gets the default size, which holds that age at ordinary rates. */
static void read_ring(struct spooler_options *options)
{
	if (!*env_text(ENV_RING))
		return;
	if (!env_size_and_age(ENV_RING, &options->ring_bytes, &options->ring_ns))
		log_line("DAGTAP_RING=%s: no size and no age: all is kept", env_text(ENV_RING));
	if (options->ring_ns && !options->ring_bytes)
		options->ring_bytes = SPOOLER_RING_BYTES_DEFAULT;
}

static bool open_spool(void)
{
	const char *folder = env_text(ENV_SPOOL);
	struct spooler_options options = {
		.folder = folder,
		.session = session_current_number(),
	};
	struct spooler *spooler;
	int err;

	log_open();
	tell_other_folder(folder);
	if (!*folder)
		return false;
	if (env_is_set(ENV_READY))
		options.ready_bytes = env_bytes(ENV_READY, 0);
	read_ring(&options);
	/* Stop what the last session could not stop; its last records go to a spool that is
	 * closed. */
	err = capture_sources_stop() ? spooler_open(&options, &spooler) : -EBUSY;
	if (err) {
		log_line("no spool in %s: %s", folder, strerrordesc_np(-err));
		leave_word(folder, err);
		return false;
	}
	err = start_recording(spooler);
	if (err) {
		log_line("the recording cannot start: %s", strerrordesc_np(-err));
		leave_word(folder, err);
		spooler_close(spooler);
		unlink(spooler_path(spooler));
		spooler_release(spooler);
		return false;
	}
	log_line("recording to %s", spooler_path(spooler));
	return true;
}

/* Starts a session as the thread that has set SESSION_STARTING. FAILED is the state to set when
 * nothing can be recorded. */
static bool start_as_first(enum session_state failed)
{
	bool on;

	on = open_spool();
	if (on) {
		watch_end();
		session_writer();
		capture_sources_start(SESSION_STARTING);
		early_ranges_write(session_writer());
	}
	end_change(on ? SESSION_ON : failed);
	capture_sources_start(SESSION_ON); /* sources that were added meanwhile */
	return on;
}

/* Waits, with a limit, until another thread has changed STATE. Returns false at once when the
 * calling thread is the one that changes it. */
static bool wait_while(enum session_state state)
{
	const struct timespec pause = {.tv_nsec = 100000};
	struct timer_limit limit = timer_start(TIMER_SESSION_CHANGE);

	if (is_changing)
		return false;
	while (atomic_load_explicit(&session_state, memory_order_acquire) == (int)state &&
	       !timer_is_over(limit))
		nanosleep(&pause, NULL);
	return true;
}

static bool start_first(void)
{
	int state;

	if (session_is_on())
		return true;
	pthread_once(&first_start_once, prepare_first_start);
	if (begin_change(SESSION_IDLE, SESSION_STARTING, &state))
		return start_as_first(SESSION_OFF);
	return (state != SESSION_STARTING || wait_while(SESSION_STARTING)) && session_is_on();
}

bool session_start(void)
{
	const struct session_switch *armed = atomic_load(&session_armed_switch);

	if (armed && atomic_load(&session_state) == SESSION_IDLE)
		return armed->gpu_used();
	return start_first();
}

bool session_start_again(void)
{
	int state;

	if (!begin_change(SESSION_STOPPED, SESSION_STARTING, &state))
		return start_first();
	return start_as_first(SESSION_STOPPED);
}

/* Scopes are events of the switch while nothing is recorded, too, so they stay open. */
static void end_scopes(void)
{
	const struct session_switch *armed = atomic_load(&session_armed_switch);

	if (!armed || !armed->keeps_scopes)
		scope_stack_session_ended();
}

void session_sleep(void)
{
	int state = SESSION_IDLE;

	pthread_once(&first_start_once, prepare_first_start);
	if (atomic_compare_exchange_strong(&session_state, &state, SESSION_STOPPED))
		end_scopes();
}

void session_arm(void)
{
	int state = SESSION_IDLE;

	env_remember();
	/* The switch compares times with the one at which it is armed. */
	pthread_once(&clock_once, choose_clock);
	/* With a recorder and without a folder the session stays IDLE: the recorder has to learn
	 * of it when the process uses a GPU. */
	if (!*env_text(ENV_SPOOL) && !*env_text(ENV_RECORDER))
		atomic_compare_exchange_strong(&session_state, &state, SESSION_OFF);
}

void session_take_switch(const struct session_switch *armed)
{
	atomic_store(&session_armed_switch, armed);
}

/* ---- stop ---- */

static void put_end(void)
{
	struct record_end end = {.ns = session_now_ns()};

	writer_put(session_writer(), RECORD_END, 0, &end, sizeof(end));
}

/* Stops the session and sets the state AFTER. Returns false when no session was on. */
static bool stop(enum session_state after)
{
	struct spooler *spooler;
	int state, err;

	if (!begin_change(SESSION_ON, SESSION_DRAINING, &state))
		return false;
	/* Read after the exchange: another thread may just have started the session that is
	 * stopped here. */
	spooler = recording_spooler();
	end_scopes();
	if (!capture_sources_stop())
		tell_unstopped();
	put_end();
	housekeeper_stop();
	if (!session_is_ending())
		housekeeper_see_off();
	err = spooler_close(spooler);
	log_line("closed %s%s", spooler_path(spooler),
		 err ? ": a thread was inside a record; left open" : "");
	/* Last: from here on the next session may start, and this one's memory may be released. */
	end_change(after);
	return true;
}

/* When another thread is stopping the session, wait for it: the spool is complete when either
 * call returns. */
void session_stop(void)
{
	if (!stop(SESSION_STOPPED))
		wait_while(SESSION_DRAINING);
}

bool session_is_ending(void)
{
	return atomic_load(&is_ending);
}

/* Waits until the start or stop that another thread has begun is complete. Returns false when it
 * does not complete, or when this thread is the one that began it. */
static bool settle(int state)
{
	return wait_while(state) && atomic_load(&session_state) != state;
}

void session_end(void)
{
	bool is_over = false;

	atomic_store(&is_ending, true);
	while (!is_over) {
		int state = atomic_load(&session_state);

		if (state == SESSION_STARTING || state == SESSION_DRAINING)
			is_over = !settle(state);
		else if (state == SESSION_ON)
			is_over = stop(SESSION_OFF);
		else
			is_over =
				state != SESSION_STOPPED ||
				atomic_compare_exchange_strong(&session_state, &state, SESSION_OFF);
	}
}
