/*
 * The part of the model of CUPTI that counts calls, lets them fail, and holds threads in the middle
 * of an operation: model_cupti.h.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "model_cupti_inner.h"

static _Atomic uint32_t calls[MODEL_CALL_COUNT];

static struct {
	_Atomic bool is_set; /* stored last */
	_Atomic uint32_t nth, result;
} failures[MODEL_CALL_COUNT];

/*
 * Threads that are held, and threads that wait for that or for a call. The lock is not taken while
 * nothing is held and no thread waits: a fork child may have inherited it in any state.
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	_Atomic uint32_t awaiting; /* threads in model_await */
	struct {
		_Atomic bool is_held;
		uint32_t passing;	/* threads to let through before the first one is held */
		uint32_t came, dropped; /* numbers of threads that were held */
	} places[MODEL_PLACE_COUNT];
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void tell_changed(void)
{
	pthread_mutex_lock(&gate.lock);
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
}

uint32_t model_result_of(enum model_call call)
{
	/* Sequentially consistent, pairs with model_await: either that thread sees this count, or
	 * this thread sees it waiting. */
	uint32_t nth = calls[call]++;

	if (gate.awaiting)
		tell_changed();
	return failures[call].is_set && nth >= failures[call].nth ? failures[call].result
								  : CUPTI_OK;
}

void model_fail(enum model_call call, uint32_t nth, uint32_t result)
{
	failures[call].nth = nth;
	failures[call].result = result;
	failures[call].is_set = true;
}

uint32_t model_count(enum model_call call)
{
	return calls[call];
}

void model_await(enum model_call call, uint32_t count)
{
	pthread_mutex_lock(&gate.lock);
	gate.awaiting++;
	while (calls[call] < count)
		pthread_cond_wait(&gate.changed, &gate.lock);
	gate.awaiting--;
	pthread_mutex_unlock(&gate.lock);
}

void model_come_to(enum model_place place)
{
	uint32_t number;

	if (!gate.places[place].is_held)
		return;
	pthread_mutex_lock(&gate.lock);
	if (gate.places[place].passing) {
		gate.places[place].passing--;
	} else if (gate.places[place].is_held) {
		number = gate.places[place].came++;
		pthread_cond_broadcast(&gate.changed);
		while (gate.places[place].dropped <= number)
			pthread_cond_wait(&gate.changed, &gate.lock);
	}
	pthread_mutex_unlock(&gate.lock);
}

void model_hold(enum model_place place, uint32_t nth)
{
	pthread_mutex_lock(&gate.lock);
	gate.places[place].passing = nth;
	gate.places[place].is_held = true;
	pthread_mutex_unlock(&gate.lock);
}

/* Call with the lock held. */
static void await_one(enum model_place place)
{
	while (gate.places[place].came == gate.places[place].dropped)
		pthread_cond_wait(&gate.changed, &gate.lock);
}

void model_await_held(enum model_place place)
{
	pthread_mutex_lock(&gate.lock);
	await_one(place);
	pthread_mutex_unlock(&gate.lock);
}

void model_release(enum model_place place)
{
	pthread_mutex_lock(&gate.lock);
	gate.places[place].is_held = false;
	gate.places[place].passing = 0;
	gate.places[place].dropped = gate.places[place].came;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
}
