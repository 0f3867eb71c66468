/* Pushed external correlation ids: see pushed.h. */
#include "sdk/pushed.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/hash_map.h"
#include "base/table.h"

/* The values of one thread in one context, the last one at the end. Stays when it is empty, for the
 * next thread that needs one. */
struct stack {
	uint64_t tid;
	uint64_t *values; /* owned */
	size_t room;
	uint32_t count;
	uint32_t context;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool is_used; /* a value has been pushed */
static struct stack *stacks;
static uint32_t stacks_count;
static struct hash_map map; /* stacks that are not empty */

static uint64_t hash_of(uint32_t context, uint64_t tid)
{
	return hash_mix(tid, context);
}

/* The stack that is not empty, or NULL. Called with the lock. */
static struct stack *find(uint32_t context, uint64_t tid)
{
	struct hash_probe probe;

	if (!map.slot_count)
		return NULL;
	probe = hash_map_probe(&map, hash_of(context, tid));
	while (hash_map_next(&map, &probe)) {
		struct stack *stack = &stacks[probe.row];

		if (stack->context == context && stack->tid == tid)
			return stack;
	}
	return NULL;
}

/* An empty stack, or NULL. Called with the lock. */
static struct stack *take_empty(void)
{
	for (uint32_t i = 0; i < stacks_count && map.count < stacks_count; i++)
		if (!stacks[i].count)
			return &stacks[i];
	return table_add((void **)&stacks, &stacks_count, sizeof(*stacks));
}

/* Puts a new stack of VALUE into the map. Returns 0 or -ENOMEM. Called with the lock. */
static int begin_stack(uint32_t context, uint64_t tid, uint64_t value)
{
	struct stack *stack = hash_map_reserve(&map) == 0 ? take_empty() : NULL;
	struct hash_probe probe;

	if (!stack ||
	    table_reserve((void **)&stack->values, &stack->room, 1, sizeof(*stack->values)) < 0)
		return -ENOMEM;
	stack->tid = tid;
	stack->context = context;
	stack->values[stack->count++] = value;
	probe = hash_map_probe(&map, hash_of(context, tid));
	while (hash_map_next(&map, &probe))
		;
	hash_map_put(&map, &probe, (uint32_t)(stack - stacks));
	return 0;
}

static int push(uint32_t context, uint64_t tid, uint64_t value)
{
	struct stack *stack = find(context, tid);

	if (!stack)
		return begin_stack(context, tid, value);
	if (table_reserve((void **)&stack->values, &stack->room, stack->count + 1ull,
			  sizeof(*stack->values)) < 0)
		return -ENOMEM;
	stack->values[stack->count++] = value;
	return 0;
}

int pushed_push(uint32_t context, uint64_t tid, uint64_t value)
{
	int err;

	pthread_mutex_lock(&lock);
	err = push(context, tid, value);
	pthread_mutex_unlock(&lock);
	atomic_store_explicit(&is_used, true, memory_order_relaxed);
	return err;
}

uint64_t pushed_pop(uint32_t context, uint64_t tid)
{
	struct stack *stack;
	uint64_t value = 0;

	pthread_mutex_lock(&lock);
	stack = find(context, tid);
	if (stack) {
		value = stack->values[--stack->count];
		if (!stack->count)
			hash_map_remove(&map, hash_of(context, tid), (uint32_t)(stack - stacks));
	}
	pthread_mutex_unlock(&lock);
	return value;
}

uint64_t pushed_last(uint32_t context, uint64_t tid)
{
	const struct stack *stack;
	uint64_t value = 0;

	if (!atomic_load_explicit(&is_used, memory_order_relaxed))
		return 0;
	pthread_mutex_lock(&lock);
	stack = find(context, tid);
	if (!stack)
		stack = find(context, (uint64_t)getpid());
	if (stack)
		value = stack->values[stack->count - 1];
	pthread_mutex_unlock(&lock);
	return value;
}

void pushed_reset_lock(void)
{
	pthread_mutex_init(&lock, NULL);
}
