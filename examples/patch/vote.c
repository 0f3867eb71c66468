/* A vote over shared memory, with futexes: vote.h. */
#include "vote.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { VALUES_MOST = 8 };

/*
 * Two rounds may be open at once: a fast rank votes again while a slow rank still reads the result.
 */
struct vote_round {
	_Atomic uint32_t votes;
	_Atomic uint32_t left;
	_Atomic uint32_t results; /* futex: the number of rounds that have ended at this place */
	_Atomic int64_t least[VALUES_MOST];
};

struct vote_box {
	uint32_t ranks;
	_Atomic uint32_t is_broken;
	struct vote_round rounds[2];
};

static void round_clear(struct vote_round *round)
{
	atomic_store(&round->votes, 0);
	atomic_store(&round->left, 0);
	for (uint32_t i = 0; i < VALUES_MOST; i++)
		atomic_store(&round->least[i], INT64_MAX);
}

struct vote_box *vote_box_create(uint32_t ranks)
{
	struct vote_box *box =
		mmap(NULL, sizeof(*box), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (box == MAP_FAILED)
		return NULL;
	box->ranks = ranks;
	round_clear(&box->rounds[0]);
	round_clear(&box->rounds[1]);
	return box;
}

void vote_box_mend(struct vote_box *box)
{
	for (uint32_t i = 0; i < 2; i++) {
		round_clear(&box->rounds[i]);
		atomic_store(&box->rounds[i].results, 0);
	}
	atomic_store(&box->is_broken, 0);
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

void vote_box_break(struct vote_box *box)
{
	atomic_store(&box->is_broken, 1);
	for (uint32_t i = 0; i < 2; i++)
		wake_all(&box->rounds[i].results);
}

static void keep_least(_Atomic int64_t *least, int64_t value)
{
	int64_t seen = atomic_load(least);

	while (value < seen && !atomic_compare_exchange_weak(least, &seen, value))
		;
}

/*
 * Stores the values before it changes `results`, which tells the waiting ranks that the round has
 * ended.
 */
static void cast(struct vote_box *box, struct vote_round *round, const struct dagpatch_vote *vote)
{
	for (uint32_t i = 0; i < vote->count; i++)
		keep_least(&round->least[i], vote->values[i]);
	if (atomic_fetch_add(&round->votes, 1) + 1 == box->ranks) {
		atomic_fetch_add(&round->results, 1);
		wake_all(&round->results);
	}
}

/* The round after the next uses the same place, so the last rank to leave clears it. */
static void read_result(struct vote_box *box, struct vote_round *round, uint32_t count,
			int64_t *ret_least)
{
	for (uint32_t i = 0; i < count; i++)
		ret_least[i] = atomic_load(&round->least[i]);
	if (atomic_fetch_add(&round->left, 1) + 1 == box->ranks)
		round_clear(round);
}

int vote(void *user, const struct dagpatch_vote *vote, int64_t *ret_least)
{
	struct vote_rank *rank = user;
	struct vote_box *box = rank->box;
	struct vote_round *round = &box->rounds[rank->round % 2];
	uint32_t over = (uint32_t)(rank->round / 2);
	uint64_t end = now_ns() + vote->timeout_ns;

	if (vote->count > VALUES_MOST)
		return -E2BIG;
	if (atomic_load(&box->is_broken))
		return -EPIPE;
	rank->round++;
	cast(box, round, vote);
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
	read_result(box, round, vote->count, ret_least);
	return 0;
}
