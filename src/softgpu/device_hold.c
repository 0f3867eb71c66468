/* Holds of the device for tests: of the taking of work, and at a counter's value. Also
 * softgpu_await. device_control.c ends the holds. */
#include "softgpu/device_hold.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dagtap/softgpu.h>

#include "softgpu/counters.h"
#include "softgpu/futex.h"

#define UNLIMITED INT64_MIN

/* ---- the taking of work ---- */

/* How many packets and copies may still be taken. */
static _Atomic int64_t may_be_taken = UNLIMITED;

bool hold_lets_take(void)
{
	int64_t left = atomic_load_explicit(&may_be_taken, memory_order_relaxed);

	while (left != UNLIMITED) {
		if (!left)
			return false;
		if (atomic_compare_exchange_weak(&may_be_taken, &left, left - 1))
			return true;
	}
	return true;
}

bool hold_would_let_take(void)
{
	return atomic_load_explicit(&may_be_taken, memory_order_relaxed) != 0;
}

void softgpu_take_hold(void)
{
	atomic_store(&may_be_taken, 0);
}

int hold_add_steps(uint32_t count)
{
	int64_t left = atomic_load(&may_be_taken);

	do {
		if (left == UNLIMITED)
			return -EPERM;
	} while (!atomic_compare_exchange_weak(&may_be_taken, &left, left + count));
	return 0;
}

void hold_end(void)
{
	atomic_store(&may_be_taken, UNLIMITED);
}

/* ---- counters ---- */

_Atomic uint32_t softgpu_counters_watched;

static _Atomic uint32_t moves; /* futex of softgpu_await; incremented at each count */

/* The point of hold_at. Constant after hold_configure. */
static struct {
	int counter; /* enum softgpu_counter_id; -1: none is configured */
	uint64_t value;
	const char *pipe; /* hold_pipe; "": the point holds the taking of work */
} point = {.counter = -1};

/* Set when the counter has reached the point and taking is held, or the counting thread is about to
 * write to the pipe. The counter itself reaches the value a moment earlier. */
static _Atomic bool point_has_come;

/* Opens the pipe for reading or writing (WAY). Blocks until the script opens the other end. */
static int open_end(int way)
{
	int file;

	do {
		file = open(point.pipe, way | O_CLOEXEC);
	} while (file < 0 && errno == EINTR);
	return file;
}

/* Holds the calling thread: writes the value to the pipe, so that the script's read returns, then
 * waits until the script writes to the pipe and closes it. */
static void hold_thread(uint64_t value)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
	int file = open_end(O_WRONLY);

	if (file >= 0 && write(file, text, (size_t)length) < 0)
		errno = 0; /* The reader has closed the pipe. The thread is held all the same. */
	if (file >= 0)
		close(file);
	file = open_end(O_RDONLY);
	while (file >= 0 && (read(file, text, sizeof(text)) > 0 || errno == EINTR))
		errno = 0;
	if (file >= 0)
		close(file);
}

void softgpu_counter_moved(enum softgpu_counter_id id, uint64_t before, uint64_t now)
{
	bool is_point = (int)id == point.counter && before < point.value && now >= point.value;

	if (is_point) {
		if (!*point.pipe)
			softgpu_take_hold();
		atomic_store(&point_has_come, true);
	}
	atomic_fetch_add(&moves, 1);
	futex_wake_all(&moves);
	if (is_point && *point.pipe)
		hold_thread(now);
}

/* Parses TEXT as COUNTER:N. Returns the counter and gives N; -1 when TEXT is invalid. */
static int read_point(const char *text, uint64_t *ret_value)
{
	const char *colon = strchr(text, ':');
	char *end;

	if (!colon)
		return -1;
	*ret_value = strtoull(colon + 1, &end, 10);
	if (!*ret_value || *end)
		return -1;
	return softgpu_counter_find(text, (size_t)(colon - text));
}

bool hold_point_is_valid(const char *text)
{
	uint64_t value;

	return !*text || read_point(text, &value) >= 0;
}

void hold_configure(const char *hold_at, const char *hold_pipe)
{
	if (!*hold_at)
		return;
	point.counter = read_point(hold_at, &point.value);
	point.pipe = hold_pipe;
	atomic_fetch_add(&softgpu_counters_watched, 1);
}

/* Returns whether counter ID has reached VALUE. If VALUE is at the point of hold_at or beyond, the
 * hold must be in effect too, so that the waiting thread can release it. */
static bool has_come(int id, uint64_t value)
{
	if (atomic_load(&softgpu_counter_values[id]) < value)
		return false;
	return id != point.counter || value < point.value || atomic_load(&point_has_come);
}

int softgpu_await(const char *counter, uint64_t value)
{
	int id = counter ? softgpu_counter_find(counter, strlen(counter)) : -1;

	if (id < 0)
		return -EINVAL;
	atomic_fetch_add(&softgpu_counters_watched, 1);
	for (;;) {
		uint32_t seen = atomic_load(&moves);

		if (has_come(id, value))
			break;
		futex_wait(&moves, seen, FUTEX_FOREVER);
	}
	atomic_fetch_sub(&softgpu_counters_watched, 1);
	return 0;
}
