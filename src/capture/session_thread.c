/* What a thread uses of the session: the session's state and counters, and the writer that the
 * thread is bound to. */
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/capture_session.h"
#include "capture/log.h"
#include "capture/process_recordings.h"
#include "capture/scope_stack.h"

_Atomic int session_state = SESSION_IDLE;
_Atomic(const struct session_switch *) session_armed_switch;
_Atomic uint32_t session_number;
_Atomic uint64_t session_last_cid __attribute__((aligned(64)));

__thread struct writer *session_thread_writer;
__thread struct recording *session_thread_recording;
__thread uint32_t session_thread_tid;

static pthread_once_t thread_key_once = PTHREAD_ONCE_INIT;
static pthread_key_t thread_key;
static bool thread_key_made;

uint32_t session_read_tid(void)
{
	session_thread_tid = (uint32_t)syscall(SYS_gettid);
	return session_thread_tid;
}

/* The destructor of thread_key: runs on the ending thread. */
static void thread_ended(void *value)
{
	const struct session_switch *armed = atomic_load(&session_armed_switch);
	struct recording *recording = session_thread_recording;
	struct writer *w = session_thread_writer;

	session_thread_writer = NULL;
	session_thread_recording = NULL;
	scope_stack_thread_ended();
	if (w)
		recording_unbind(recording, w);
	if (armed)
		armed->thread_ended();
}

static void make_thread_key(void)
{
	thread_key_made = !pthread_key_create(&thread_key, thread_ended);
	if (!thread_key_made)
		log_line("no thread key left: writers of ended threads stay in use");
}

void session_watch_thread(void)
{
	pthread_once(&thread_key_once, make_thread_key);
	/* Any value but NULL makes the destructor run. It reads the thread's own variables. */
	if (thread_key_made)
		pthread_setspecific(thread_key, &thread_key);
}

/* Unbinds the thread from the last recording. When a signal handler has interrupted the thread
 * inside a record, the recording stays bound, since the thread goes on in that record after the
 * handler. */
static void leave_recording(void)
{
	struct writer *w = session_thread_writer;

	if (w && !writer_is_busy(w))
		recording_unbind(session_thread_recording, w);
}

struct writer *session_bind_writer(void)
{
	struct writer_thread thread = {.tid = session_tid(), .scope_number = scope_stack_number()};
	struct recording *recording;
	struct writer *w;

	prctl(PR_GET_NAME, thread.name, 0, 0, 0);
	w = recording_bind(&thread, &recording);
	if (!w)
		return NULL;
	leave_recording();
	session_thread_writer = w;
	session_thread_recording = recording;
	session_watch_thread();
	scope_stack_writer_bound(w);
	return w;
}

void session_thread_numbered(uint64_t scope_number)
{
	struct writer *w = session_thread_writer;

	if (!w || !w->counters)
		return;
	writer_set_scope_number(w, scope_number);
}
