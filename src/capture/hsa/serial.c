/* The turns of GPUs that run one kernel at a time; see the header. */
#include "capture/hsa/serial.h"

#include <stdlib.h>

#include <hsa/hsa_ext_amd.h>

#include "base/timer.h"
#include "capture/capture_session.h"
#include "capture/hsa/app_signal.h"
#include "capture/hsa/completion_slots.h"
#include "capture/hsa/hsa_agents.h"

#define DEPENDENCIES 5 /* signals in a barrier packet */

/* The turn of one GPU. Never freed, because gates keep pointers to it. */
struct serial_turn {
	uint64_t agent;		   /* handle */
	struct serial_turn *older; /* list of all turns; constant */
	_Atomic uint32_t lock;	   /* a spin lock; serial_may_pass only tries it */
	/* Under the lock: */
	struct gate *holder; /* the gate whose dispatch has the turn; NULL: the turn is free */
	uint64_t sequence;   /* of the dispatch's completion slot, if has_slot */
	bool has_slot;	     /* false: the turn ends when the device has taken the packet */
	uint64_t index;	     /* of the packet; UINT64_MAX until serial_passed */
	uint64_t since_ns;   /* when the turn was taken, host clock */
	/* The gate that was refused first since then, and gets the next turn; NULL: none. */
	struct gate *next;
};

static struct serial_turn *newest_turn;
static _Atomic uint64_t overruns;

struct serial_turn *serial_turn_of(hsa_agent_t agent)
{
	struct serial_turn *turn = newest_turn;

	while (turn && turn->agent != agent.handle)
		turn = turn->older;
	if (turn)
		return turn;
	turn = calloc(1, sizeof(*turn));
	if (!turn) {
		session_note("no memory for a GPU's turns: its kernels run beside each other");
		return NULL;
	}
	turn->agent = agent.handle;
	turn->older = newest_turn;
	newest_turn = turn;
	return turn;
}

uint64_t serial_overruns(void)
{
	return atomic_load_explicit(&overruns, memory_order_relaxed);
}

static bool turn_try_lock(struct serial_turn *turn)
{
	return !atomic_exchange_explicit(&turn->lock, 1, memory_order_acquire);
}

static void turn_unlock(struct serial_turn *turn)
{
	atomic_store_explicit(&turn->lock, 0, memory_order_release);
}

static bool turn_is_over(const struct serial_turn *turn)
{
	const struct gate *holder = turn->holder;

	if (!holder)
		return true;
	if (turn->has_slot)
		return slot_is_finished(holder->slots, turn->sequence);
	/* The tool cannot see the dispatch's end (FOREIGN_SIGNAL): it waits only until the device
	 * has taken the packet. */
	return __atomic_load_n(&holder->queue->read_dispatch_id, __ATOMIC_ACQUIRE) > turn->index;
}

/* Gives the turn to GATE if it is free, or over its time, and no other gate is next. Called under
 * the lock. */
static bool turn_take(struct serial_turn *turn, struct gate *gate, uint64_t now_ns)
{
	bool is_free = turn_is_over(turn);

	if (!is_free && now_ns - turn->since_ns > timer_ns(TIMER_SERIAL_TURN)) {
		atomic_fetch_add_explicit(&overruns, 1, memory_order_relaxed);
		is_free = true;
	}
	if (is_free && (!turn->next || turn->next == gate)) {
		turn->next = NULL;
		turn->holder = gate;
		turn->since_ns = now_ns;
		return true;
	}
	if (!turn->next)
		turn->next = gate;
	return false;
}

static bool value_holds(hsa_signal_condition32_t condition, int64_t value, int64_t compare)
{
	switch (condition) {
	case HSA_SIGNAL_CONDITION_EQ:
		return value == compare;
	case HSA_SIGNAL_CONDITION_NE:
		return value != compare;
	case HSA_SIGNAL_CONDITION_LT:
		return value < compare;
	case HSA_SIGNAL_CONDITION_GTE:
		return value >= compare;
	default:
		return true;
	}
}

/* Whether a signal's value fulfils a packet's condition. True for a signal that the tool must not
 * read (app_signal_find), and for none. The packet is not on the device, so the application cannot
 * have used the signal for anything else yet. */
static bool signal_holds(hsa_signal_t signal, hsa_signal_condition32_t condition, int64_t mask,
			 int64_t compare)
{
	const amd_signal_t *block = (const amd_signal_t *)(uintptr_t)signal.handle;

	if (!signal.handle || !app_signal_find(signal))
		return true;
	return value_holds(condition, __atomic_load_n(&block->value, __ATOMIC_ACQUIRE) & mask,
			   compare);
}

static bool barrier_holds(const hsa_barrier_and_packet_t *packet, bool any_is_enough)
{
	int wanted = 0, held = 0;

	for (int i = 0; i < DEPENDENCIES; i++) {
		if (!packet->dep_signal[i].handle)
			continue;
		wanted++;
		held += signal_holds(packet->dep_signal[i], HSA_SIGNAL_CONDITION_EQ, -1, 0);
	}
	return any_is_enough && wanted ? held > 0 : held == wanted;
}

static bool vendor_holds(const union packet *packet)
{
	const hsa_amd_barrier_value_packet_t *barrier = (const void *)packet;

	if (barrier->header.AmdFormat != HSA_AMD_PACKET_TYPE_BARRIER_VALUE)
		return true;
	return signal_holds(barrier->signal, barrier->cond, barrier->mask, barrier->value);
}

static bool dispatch_may_pass(struct pass *pass)
{
	struct serial_turn *turn = pass->gate->turn;
	bool may;

	if (!turn_try_lock(turn))
		return false;
	may = turn_take(turn, pass->gate, pass->ns);
	if (may) {
		/* The turn is not over until serial_passed has set the packet. */
		turn->has_slot = false;
		turn->index = UINT64_MAX;
	}
	turn_unlock(turn);
	return may;
}

bool serial_may_pass(struct pass *pass, const union packet *packet, uint16_t header)
{
	switch (header & 0xff) {
	case HSA_PACKET_TYPE_KERNEL_DISPATCH:
		return dispatch_may_pass(pass);
	case HSA_PACKET_TYPE_BARRIER_AND:
		return barrier_holds(&packet->barrier, false);
	case HSA_PACKET_TYPE_BARRIER_OR:
		return barrier_holds(&packet->barrier, true);
	case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
		return vendor_holds(packet);
	default:
		return true;
	}
}

void serial_passed(struct pass *pass, uint16_t header)
{
	struct serial_turn *turn = pass->gate->turn;

	if ((header & 0xff) != HSA_PACKET_TYPE_KERNEL_DISPATCH)
		return;
	while (!turn_try_lock(turn))
		;
	turn->has_slot = pass->has_slot;
	turn->sequence = pass->sequence;
	turn->index = pass->index;
	turn_unlock(turn);
}

void serial_leave(struct gate *gate)
{
	struct serial_turn *turn = gate->turn;

	if (!turn)
		return;
	for (uint32_t i = 0; !turn_try_lock(turn); i++) {
		if (i > 1000000)
			return;
	}
	if (turn->next == gate)
		turn->next = NULL;
	if (turn->holder == gate)
		turn->holder = NULL;
	turn_unlock(turn);
}

void serial_forget(void)
{
	for (struct serial_turn *turn = newest_turn; turn; turn = turn->older)
		*turn = (struct serial_turn){.agent = turn->agent, .older = turn->older};
}
