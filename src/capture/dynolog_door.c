/* Requests of dynolog: when they begin and end, and where their files go; see dynolog_door.h. */
#include "capture/dynolog_door.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/timer.h"
#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/dynolog_config.h"
#include "capture/dynolog_link.h"
#include "capture/env.h"
#include "capture/log.h"
#include "capture/switch_window.h"
#include "record/delivery_word.h"

#define WHO	       "a request of dynolog"
#define DATAGRAMS_MOST 16 /* that one call of serve receives */
#define NS_PER_MS      UINT64_C(1000000)
#define LOOK_AGAIN_NS  (10 * NS_PER_MS)	 /* at iterations that are recorded */
#define LOOK_AHEAD_NS  (100 * NS_PER_MS) /* at iterations that have not begun */

/* In time: waiting, then recording. In iterations, which begin and end on the program's threads:
 * counting, then iterating once the recording that has begun is known. */
enum phase { PHASE_NONE, PHASE_WAITING, PHASE_RECORDING, PHASE_COUNTING, PHASE_ITERATING };

static struct {
	struct dynolog_link link;
	pid_t pid;	 /* that has opened it */
	uint64_t ask_ns; /* when the daemon is asked next */
	/* The request that is followed. The phase is atomic because the thread that ends the
	 * process looks at it, and changes it. */
	_Atomic int phase; /* enum phase */
	uint64_t begin_ns, end_ns;
	uint64_t duration_ns;
	bool is_ahead;		   /* when the iterations were looked at last, they had not begun */
	struct delivery_word word; /* its file, and the spool once it records */
} door;

static bool is_wanted(void)
{
	dynolog_link_configure();
	return env_is_set(ENV_DYNOLOG) && strcmp(env_text(ENV_DYNOLOG), "0") != 0;
}

static int open_door(void)
{
	int err = dynolog_link_open(&door.link);

	door.pid = getpid();
	door.ask_ns = 0;
	atomic_store(&door.phase, PHASE_NONE);
	return err;
}

/* ---- the file of a request ---- */

/* Best effort: without the message the recording is in the output of dagtap record alone. */
static void send_word(enum delivery_kind kind)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct timer_limit limit = timer_start(TIMER_LOSS_WORD);
	struct loss_address recorder;
	int err;

	if (!*door.word.output || !loss_address_parse(env_text(ENV_RECORDER), &recorder))
		return;
	door.word.kind = kind;
	while ((err = delivery_word_send(&recorder, &door.word)) == -EAGAIN &&
	       !timer_is_over(limit))
		nanosleep(&pause, NULL);
	log_line("dynolog: %s: %s", door.word.output, err ? "nobody hears of it" : "told");
}

static void name_output(const struct dynolog_config *config)
{
	char folder[PATH_MAX];

	door.word = (struct delivery_word){0};
	if (*config->log_file &&
	    (!getcwd(folder, sizeof(folder)) ||
	     !dynolog_output_name(config->log_file, folder, getpid(), door.word.output)))
		*door.word.output = '\0';
}

/* ---- a request ---- */

/* The time of clock_now_ns at which CLOCK_REALTIME is START_MS; now, if that has passed. All
 * processes of a job get the same START_MS and so begin together. */
static uint64_t time_of(uint64_t start_ms)
{
	uint64_t real_ns = clock_read_ns(CLOCK_REALTIME), now_ns = clock_now_ns();

	if (start_ms > UINT64_MAX / NS_PER_MS || start_ms * NS_PER_MS <= real_ns)
		return now_ns;
	return now_ns + (start_ms * NS_PER_MS - real_ns);
}

/* Where iterations are counted they count, also if the request has a duration. Returns whether the
 * request is done with. */
static bool take_iterations(const struct dynolog_config *config)
{
	const struct switch_iterations wanted = {
		.first = config->first_iteration,
		.round_up = config->round_up,
		.count = config->iterations,
	};

	if (!config->iterations)
		return false;
	if (switch_ask_iterations(&wanted, WHO)) {
		door.is_ahead = true;
		atomic_store(&door.phase, PHASE_COUNTING);
		return true;
	}
	if (config->has_duration)
		return false;
	switch_note("capture range: a request of dynolog in iterations was not followed");
	return true;
}

static void follow_iterations(void);

/* Iterations may never come: a request that still waits for its first one gives way. Returns
 * whether no request is followed. */
static bool is_free(void)
{
	int phase = PHASE_COUNTING;

	if (atomic_load(&door.phase) == PHASE_COUNTING)
		follow_iterations();
	if (atomic_load(&door.phase) == PHASE_COUNTING && switch_drop_iterations() &&
	    atomic_compare_exchange_strong(&door.phase, &phase, PHASE_NONE))
		switch_note("capture range: a request of dynolog in iterations was not followed: "
			    "another one came before they had begun");
	return atomic_load(&door.phase) == PHASE_NONE;
}

static void take_request(const char *text, size_t bytes)
{
	static struct dynolog_config config;

	if (!dynolog_config_read(text, bytes, &config))
		return;
	if (session_is_on() || !is_free()) {
		switch_note("capture range: a request of dynolog was not followed: a recording was "
			    "on");
		return;
	}
	name_output(&config);
	if (take_iterations(&config))
		return;
	door.begin_ns = time_of(config.start_ms);
	door.duration_ns = config.duration_ms < UINT64_MAX / 2 / NS_PER_MS
				   ? config.duration_ms * NS_PER_MS
				   : UINT64_MAX / 2;
	atomic_store(&door.phase, PHASE_WAITING);
}

/* Starts a recording, whose status is then in RET_STATUS. If it returns false, this request starts
 * none later either. */
static bool start(struct switch_status *ret_status)
{
	if (session_is_on() || !switch_start_now(WHO))
		return false;
	if (switch_read_status(ret_status))
		return true;
	switch_stop(WHO);
	return false;
}

static void begin(void)
{
	struct switch_status status;

	if (!start(&status)) {
		switch_note("capture range: a request of dynolog was not followed");
		atomic_store(&door.phase, PHASE_NONE);
		return;
	}
	door.end_ns = clock_now_ns() + door.duration_ns;
	memcpy(door.word.spool, status.spool, sizeof(door.word.spool));
	send_word(DELIVERY_BEGUN);
	atomic_store(&door.phase, PHASE_RECORDING);
}

/* Something else may have ended the recording, and begun another one. */
static void end(void)
{
	struct switch_status status;
	int phase = PHASE_RECORDING;

	if (switch_read_status(&status) && status.is_on &&
	    !strncmp(status.spool, door.word.spool, sizeof(status.spool)))
		switch_stop(WHO);
	if (atomic_compare_exchange_strong(&door.phase, &phase, PHASE_NONE))
		send_word(DELIVERY_ENDED);
}

/* The recording NUMBER has begun with the iterations; 0: none has. Something else may have begun
 * another one since. */
static void iterations_began(uint32_t number, const struct switch_status *status)
{
	int phase = PHASE_COUNTING;

	if (!number || status->recordings != number ||
	    !atomic_compare_exchange_strong(&door.phase, &phase, PHASE_ITERATING))
		return;
	memcpy(door.word.spool, status->spool, sizeof(door.word.spool));
	send_word(DELIVERY_BEGUN);
}

static void iterations_ended(void)
{
	int phase = PHASE_ITERATING;

	if (atomic_compare_exchange_strong(&door.phase, &phase, PHASE_NONE)) {
		send_word(DELIVERY_ENDED);
	} else if (phase == PHASE_COUNTING &&
		   atomic_compare_exchange_strong(&door.phase, &phase, PHASE_NONE)) {
		switch_note("capture range: a request of dynolog was not followed");
	}
}

/* If the status cannot be read, the next look has the same number. The thread that ends the window
 * stops the recording after that: until then its spool is not whole. */
static void follow_iterations(void)
{
	uint32_t number = 0;
	enum switch_window_state state = switch_read_iterations(&number);
	struct switch_status status;

	door.is_ahead = state == SWITCH_WINDOW_AHEAD;
	if (door.is_ahead || !switch_read_status(&status))
		return;
	iterations_began(number, &status);
	if (state != SWITCH_WINDOW_OPEN && !(number && status.is_on && status.recordings == number))
		iterations_ended();
}

/* ---- the table ---- */

static uint32_t list(struct pollfd *ends)
{
	ends[0] = (struct pollfd){.fd = door.link.socket.fd, .events = POLLIN};
	return 1;
}

static uint64_t due_ns(void)
{
	uint64_t ns = DOORS_NEVER;

	switch ((enum phase)atomic_load(&door.phase)) {
	case PHASE_WAITING:
		ns = door.begin_ns;
		break;
	case PHASE_RECORDING:
		ns = door.end_ns;
		break;
	case PHASE_COUNTING:
	case PHASE_ITERATING:
		ns = clock_now_ns() + (door.is_ahead ? LOOK_AHEAD_NS : LOOK_AGAIN_NS);
		break;
	default:
		break;
	}
	return ns < door.ask_ns ? ns : door.ask_ns;
}

static void receive(void)
{
	static char text[DYNOLOG_TEXT_BYTES];
	ssize_t bytes = 0;

	for (int i = 0; i < DATAGRAMS_MOST && bytes >= 0; i++) {
		bytes = dynolog_link_take(&door.link, text);
		if (bytes > 0)
			take_request(text, (size_t)bytes);
	}
}

/* The program has closed the descriptor, or uses its number for a file of its own. */
static void open_again(void)
{
	dynolog_link_close(&door.link, true);
	if (dynolog_link_open(&door.link))
		log_line("dynolog: no socket");
}

static void serve(const struct pollfd *ends, uint32_t count)
{
	int phase;

	(void)count;
	if (!own_fd_is_still(&door.link.socket))
		open_again();
	else if (ends[0].revents)
		receive();
	phase = atomic_load(&door.phase);
	if (phase == PHASE_WAITING && clock_now_ns() >= door.begin_ns)
		begin();
	else if (phase == PHASE_RECORDING && clock_now_ns() >= door.end_ns)
		end();
	else if (phase == PHASE_COUNTING || phase == PHASE_ITERATING)
		follow_iterations();
	if (clock_now_ns() < door.ask_ns)
		return;
	door.ask_ns = timer_start(TIMER_DYNOLOG_POLL).end_ns;
	dynolog_link_ask(&door.link);
}

static void forget_parent(void)
{
	dynolog_link_close(&door.link, false);
	atomic_store(&door.phase, PHASE_NONE);
}

/* Without the thread's help: it may be in the middle of a request. */
static void close_door(void)
{
	struct switch_status status;
	uint32_t number = 0;
	int phase;

	if (door.pid != getpid())
		return;
	if (atomic_load(&door.phase) == PHASE_COUNTING &&
	    switch_read_iterations(&number) != SWITCH_WINDOW_AHEAD && switch_read_status(&status))
		iterations_began(number, &status);
	phase = atomic_exchange(&door.phase, PHASE_NONE);
	if (phase == PHASE_RECORDING || phase == PHASE_ITERATING)
		send_word(DELIVERY_ENDED);
	if (*door.link.path)
		unlink(door.link.path);
}

const struct door dynolog_door = {
	.name = "dynolog",
	.is_wanted = is_wanted,
	.open = open_door,
	.list = list,
	.due_ns = due_ns,
	.serve = serve,
	.forget_parent = forget_parent,
	.close = close_door,
};
