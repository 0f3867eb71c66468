/* Draws the order of the device's work from the seed (schedule.h). One lock protects all parties,
 * the list of waits of the program's threads, and the state of the program. */
#include "softgpu/schedule.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "softgpu/config.h"
#include "softgpu/futex.h"
#include "softgpu/signal_block.h"
#include "softgpu/signal_epoch.h"
#include "softgpu/softgpu_threads.h"

/* How long a party's count of candidates may be used that can change without a new epoch. */
#define LOOK_NS		  1000000u
/* The program is considered idle after this time without a call; for a callback the second one. */
#define QUIET_NS	  20000000u
#define CALLBACK_QUIET_NS 1000000u
/* A turn that takes longer may be a kernel that waits for another queue or for the program. */
#define LONG_TURN_NS	  1000000000u
/* One of so many waits with a time limit is ignored (schedule_host_waits). */
#define IGNORES_ONE_IN	  8

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	struct schedule_party *parties;
	struct schedule_party *with_turn; /* NULL: no party, or only passed-over ones */
	uint32_t joined;		  /* parties that ever joined */
	uint64_t acts;			  /* actions of the program so far */
	uint64_t quiet_acts;		  /* value of acts when the program was last found idle */
	uint64_t quiet_from_ns;		  /* CLOCK_MONOTONIC of its last action or wait */
	/* A stretch is a sequence of turns without an action of the program in between. */
	uint64_t stretch_acts;		  /* value of acts when the present stretch began */
	uint64_t stretch;		  /* number of the present stretch */
	uint64_t turns;			  /* turns that were given so far */
	struct schedule_host_wait *waits; /* of the program's threads that wait now */
	volatile int64_t *ignored;	  /* value of the last wait if it was ignored, else NULL */
	uint32_t pauses;		  /* schedule_pause without schedule_resume */
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

/* ---- choice of the next turn; all with the lock held ---- */

/* Returns a pseudo-random number that depends on all bits of the seed and of the arguments
 * (splitmix64). WHAT names the kind of decision, WHICH the decision. */
static uint64_t draw(uint64_t what, uint64_t which)
{
	uint64_t x =
		config_get()->schedule + what * 0x9e3779b97f4a7c15u + which * 0xd1b54a32d192ed03u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Returns whether the thread of WAIT is waiting. A thread whose condition holds is not, even if it
 * has not woken up yet. */
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

/* Returns the party that runs callbacks, if a callback is due and the program has been quiet for
 * CALLBACK_QUIET_NS; else NULL. */
static struct schedule_party *find_due_callback(void)
{
	if (now_ns() < schedule.quiet_from_ns + CALLBACK_QUIET_NS)
		return NULL;
	for (struct schedule_party *party = schedule.parties; party; party = party->next)
		if (party->runs_callbacks && party->is_waiting && party->candidates > 0)
			return party;
	return NULL;
}

/* Returns whether all parties have counted their candidates in the present epoch. Parties in a long
 * turn do not matter. */
static bool all_have_counted(void)
{
	uint32_t epoch = signal_epoch();

	for (const struct schedule_party *party = schedule.parties; party; party = party->next)
		if (!party->is_passed_over && (!party->is_waiting || party->seen != epoch))
			return false;
	return true;
}

/* Returns the party that gets the next turn; NULL when none has candidates. In half of the
 * stretches each party has one rank for the whole stretch, so that one party runs after all others;
 * in the other half the ranks are drawn for each turn. */
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

/* Gives the next turn, if no party has one, no pause is in effect, all parties have counted, and
 * the program is idle. */
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

/* Lets other parties have turns while the present turn takes longer than LONG_TURN_NS. */
static void pass_over_long_turn(void)
{
	struct schedule_party *party = schedule.with_turn;

	if (!party || now_ns() < party->turn_ns + LONG_TURN_NS)
		return;
	party->is_passed_over = true;
	schedule.with_turn = NULL;
}

/* Returns which of PARTY's candidates runs. The stretch decides whether it is the newest, the
 * oldest or any of them. */
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

static void wake_parties(void)
{
	lock_schedule();
	for (struct schedule_party *party = schedule.parties; party; party = party->next)
		wake(party);
	unlock_schedule();
}

void schedule_bump_epoch(void)
{
	signal_epoch_advance();
	if (schedule_is_on())
		wake_parties();
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

void schedule_host_polls(void)
{
	lock_schedule();
	if (schedule.quiet_acts != schedule.acts) {
		schedule.quiet_acts = schedule.acts;
		give_turn();
	}
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
