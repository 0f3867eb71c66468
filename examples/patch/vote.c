#include "vote.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Two rounds may be open at once: a fast rank votes again while a slow one still reads the result. */
struct vote_round {
	_Atomic uint32_t votes;
	_Atomic uint32_t have;
	_Atomic uint32_t results; /* rounds of this place that are over; waited for by futex */
};

struct vote_box {
	uint32_t ranks;
	_Atomic uint32_t is_broken;
	struct vote_round rounds[2];
};

struct vote_box *vote_box_create(uint32_t ranks)
{
	struct vote_box *box =
		mmap(NULL, sizeof(*box), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (box == MAP_FAILED)
		return NULL;
	box->ranks = ranks;
	return box;
}

void vote_box_destroy(struct vote_box *box)
{
	if (box)
		munmap(box, sizeof(*box));
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_until_changed(_Atomic uint32_t *word, uint32_t seen, uint64_t ns)
{
	struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u),
				.tv_nsec = (long)(ns % 1000000000u)};

	syscall(SYS_futex, word, FUTEX_WAIT, seen, &time, NULL, 0);
}

static void wake_all(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The last one counts: results says so only when HAVE is final. */
static void cast(struct vote_box *box, struct vote_round *round, bool has)
{
	if (has)
		atomic_fetch_add(&round->have, 1);
	if (atomic_fetch_add(&round->votes, 1) + 1 == box->ranks) {
		atomic_fetch_add(&round->results, 1);
		wake_all(&round->results);
	}
}

/* The place of the round after next is the one of this: it is cleared by the last to leave. HAVE keeps
 * the count below, and above how many have read it. */
static bool read_result(struct vote_box *box, struct vote_round *round)
{
	enum { LEFT = 1 << 16 };
	uint32_t have = atomic_fetch_add(&round->have, LEFT) + LEFT;

	if (have / LEFT == box->ranks) {
		atomic_store(&round->votes, 0);
		atomic_store(&round->have, 0);
	}
	return (have & (LEFT - 1)) == box->ranks;
}

int vote(void *user, int has, uint64_t timeout_ns, int *ret_all_have)
{
	struct vote_rank *rank = user;
	struct vote_box *box = rank->box;
	struct vote_round *round = &box->rounds[rank->round % 2];
	uint32_t over = (uint32_t)(rank->round / 2);
	uint64_t end = now_ns() + timeout_ns;

	if (atomic_load(&box->is_broken))
		return -EPIPE;
	rank->round++;
	cast(box, round, has);
	while (atomic_load(&round->results) == over) {
		uint64_t now = now_ns();

		if (atomic_load(&box->is_broken))
			return -EPIPE;
		if (now >= end) {
			atomic_store(&box->is_broken, 1);
			return -ETIMEDOUT;
		}
		sleep_until_changed(&round->results, over, end - now);
	}
	*ret_all_have = read_result(box, round);
	return 0;
}
