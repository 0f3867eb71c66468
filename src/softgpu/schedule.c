#include "softgpu/schedule.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "softgpu/config.h"
#include "softgpu/futex.h"
#include "softgpu/process.h"
#include "softgpu/signal.h"
#include "softgpu/signal_block.h"

/* How old a count may be of what can change without notice. */
#define LOOK_NS		  1000000u
/* After so long without a call the program is taken to be at a standstill. */
#define QUIET_NS	  20000000u
#define CALLBACK_QUIET_NS 1000000u
/* A turn that takes longer may be a kernel that waits for another queue or for the program. */
#define LONG_TURN_NS	  1000000000u
/* Of the waits that are limited in time. */
#define IGNORES_ONE_IN	  8

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	struct schedule_party *parties;
	struct schedule_party *with_turn; /* NULL: nobody */
	uint32_t joined;
	uint64_t acts;		/* of the program's */
	uint64_t quiet_acts;	/* their number when the program was last found to be quiet ... */
	uint64_t quiet_from_ns; /* ... which it is a while after this */
	uint64_t stretch_acts;	/* their number when the present stretch of turns began */
	uint64_t stretch;
	uint64_t turns;
	struct schedule_host_wait *waits;
	volatile int64_t *ignored; /* what the latest wait that was ignored is for */
	uint32_t pauses;
} schedule = {.lock = PTHREAD_MUTEX_INITIALIZER,
	      .once = PTHREAD_ONCE_INIT,
	      .quiet_acts = UINT64_MAX,
	      .stretch_acts = UINT64_MAX};

bool schedule_is_on(void)
{
	return config_get()->schedule != 0;
}

static void guard_lock(void)
{
	process_guard_lock(&schedule.lock);
}

static void lock_schedule(void)
{
	pthread_once(&schedule.once, guard_lock);
	pthread_mutex_lock(&schedule.lock);
}

static void unlock_schedule(void)
{
	pthread_mutex_unlock(&schedule.lock);
}

static uint64_t now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

static void wake(struct schedule_party *party)
{
	atomic_fetch_add(&party->word, 1);
	futex_wake_all(&party->word);
}

/* ---- whose turn it is; all with the lock held ---- */

/* A number that depends on all bits of the seed and of what it is drawn for (splitmix64). */
static uint64_t draw(uint64_t what, uint64_t which)
{
	uint64_t x =
		config_get()->schedule + what * 0x9e3779b97f4a7c15u + which * 0xd1b54a32d192ed03u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* A thread whose signal has come is not at a standstill, even if it has not noticed yet. */
static bool is_waited_for(const struct schedule_host_wait *wait)
{
	if (wait->is_ignored)
		return false;
	return !wait->value ||
	       !signal_condition_holds(wait->condition,
				       __atomic_load_n(wait->value, __ATOMIC_ACQUIRE),
				       wait->compare);
}

static bool is_at_standstill(void)
{
	uint64_t now = now_ns();

	for (const struct schedule_host_wait *wait = schedule.waits; wait; wait = wait->next) {
		if (is_waited_for(wait)) {
			schedule.quiet_from_ns = now;
			return true;
		}
	}
	if (now >= schedule.quiet_from_ns + QUIET_NS)
		schedule.quiet_acts = schedule.acts;
	return schedule.quiet_acts == schedule.acts;
}

/* The one that runs callbacks, if one is due and the program does nothing. */
static struct schedule_party *find_due_callback(void)
{
	if (now_ns() < schedule.quiet_from_ns + CALLBACK_QUIET_NS)
		return NULL;
	for (struct schedule_party *party = schedule.parties; party; party = party->next)
		if (party->runs_callbacks && party->is_waiting && party->candidates > 0)
			return party;
	return NULL;
}

/* Everybody has counted since the last change, but who is in a long turn. */
static bool all_have_counted(void)
{
	uint32_t epoch = signal_epoch();

	for (const struct schedule_party *party = schedule.parties; party; party = party->next)
		if (!party->is_passed_over && (!party->is_waiting || party->seen != epoch))
			return false;
	return true;
}

/* In one stretch out of two parties go by a rank that is drawn once, so that one of them runs last
 * of all; in the others each turn is drawn among them. */
static struct schedule_party *choose(void)
{
	uint64_t kind = draw(1, schedule.stretch), best = 0;
	struct schedule_party *chosen = NULL;

	for (struct schedule_party *party = schedule.parties; party; party = party->next) {
		uint64_t rank = draw(2 + (kind & 1 ? schedule.stretch : schedule.turns),
				     1 + party->ordinal);

		if (party->is_waiting && party->candidates > 0 && (!chosen || rank > best)) {
			chosen = party;
			best = rank;
		}
	}
	return chosen;
}

static void give_turn(void)
{
	struct schedule_party *party;

	if (schedule.with_turn || schedule.pauses > 0 || !all_have_counted())
		return;
	party = is_at_standstill() ? choose() : find_due_callback();
	if (!party)
		return;
	if (schedule.stretch_acts != schedule.acts) {
		schedule.stretch_acts = schedule.acts;
		schedule.stretch++;
	}
	schedule.turns++;
	schedule.with_turn = party;
	party->has_turn = true;
	party->turn_ns = now_ns();
	wake(party);
}

static void pass_over_long_turn(void)
{
	struct schedule_party *party = schedule.with_turn;

	if (!party || now_ns() < party->turn_ns + LONG_TURN_NS)
		return;
	party->is_passed_over = true;
	schedule.with_turn = NULL;
}

/* Newest or oldest first, or any: by the stretch. */
static int choose_candidate(const struct schedule_party *party)
{
	uint64_t kind = draw(1, schedule.stretch) >> 1 & 3;

	if (kind == 0)
		return (int)party->candidates - 1;
	if (kind == 1)
		return 0;
	return (int)(draw(3, schedule.turns) % party->candidates);
}

/* ---- parties ---- */

void schedule_join(struct schedule_party *party)
{
	struct schedule_party **link = &schedule.parties;

	lock_schedule();
	party->ordinal = schedule.joined++;
	while (*link)
		link = &(*link)->next;
	*link = party;
	unlock_schedule();
}

void schedule_leave(struct schedule_party *party)
{
	lock_schedule();
	for (struct schedule_party **at = &schedule.parties; *at; at = &(*at)->next) {
		if (*at == party) {
			*at = party->next;
			break;
		}
	}
	if (schedule.with_turn == party)
		schedule.with_turn = NULL;
	give_turn();
	unlock_schedule();
}

int schedule_wait(struct schedule_party *party, uint32_t seen, uint32_t candidates, bool may_change)
{
	uint64_t until = candidates > 0 || may_change ? now_ns() + LOOK_NS : FUTEX_FOREVER;
	uint32_t word;
	int which = -1;

	lock_schedule();
	party->candidates = candidates;
	party->seen = seen;
	party->is_waiting = true;
	word = atomic_load(&party->word);
	pass_over_long_turn();
	give_turn();
	if (!party->has_turn && seen == signal_epoch()) {
		unlock_schedule();
		futex_wait(&party->word, word, until);
		lock_schedule();
		pass_over_long_turn();
		give_turn();
	}
	party->is_waiting = false;
	if (party->has_turn)
		which = choose_candidate(party);
	unlock_schedule();
	return which;
}

void schedule_turn_ends(struct schedule_party *party)
{
	lock_schedule();
	if (schedule.with_turn == party)
		schedule.with_turn = NULL;
	party->has_turn = false;
	party->is_passed_over = false;
	unlock_schedule();
}

void schedule_wake_all(void)
{
	lock_schedule();
	for (struct schedule_party *party = schedule.parties; party; party = party->next)
		wake(party);
	unlock_schedule();
}

void schedule_pause(void)
{
	lock_schedule();
	schedule.pauses++;
	unlock_schedule();
}

void schedule_resume(void)
{
	lock_schedule();
	schedule.pauses--;
	give_turn();
	unlock_schedule();
}

/* ---- the program ---- */

/* With the lock held. */
static void count_act(void)
{
	schedule.acts++;
	schedule.quiet_from_ns = now_ns();
}

void schedule_host_acts(void)
{
	lock_schedule();
	count_act();
	unlock_schedule();
}

void schedule_host_waits(struct schedule_host_wait *wait)
{
	lock_schedule();
	wait->is_ignored = wait->is_limited && wait->value != schedule.ignored &&
			   draw(4, schedule.acts) % IGNORES_ONE_IN == 0;
	schedule.ignored = wait->is_ignored ? wait->value : NULL;
	wait->next = schedule.waits;
	schedule.waits = wait;
	give_turn();
	unlock_schedule();
}

void schedule_host_waited(struct schedule_host_wait *wait)
{
	struct schedule_host_wait **link = &schedule.waits;

	lock_schedule();
	while (*link != wait)
		link = &(*link)->next;
	*link = wait->next;
	count_act();
	unlock_schedule();
}
