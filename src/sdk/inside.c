/* Places on the stack: see inside.h. */
#include "sdk/inside.h"

#include <pthread.h>

#define DEPTH 32 /* places that a thread remembers; deeper ones are inside of a remembered one */

static _Thread_local struct {
	const struct inside *place;
	uint64_t number;
	enum inside_kind kind;
} places[DEPTH];
static _Thread_local unsigned depth;
static _Thread_local uint64_t last_number;

/* The stack that the thread was started with. HIGH 0: not known yet, or not to be known. */
static _Thread_local struct {
	uintptr_t low, high;
	bool is_known;
} stack;

static void find_stack(void)
{
	pthread_attr_t attributes;
	void *low;
	size_t bytes;

	stack.is_known = true;
	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return;
	if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
		stack.low = (uintptr_t)low;
		stack.high = stack.low + bytes;
	}
	pthread_attr_destroy(&attributes);
}

static bool is_on_stack(uintptr_t address)
{
	return address >= stack.low && address < stack.high;
}

/* Whether the function that has entered the INDEX-th place may not have been left. Where it was
 * left, another function's variables may be at the place. What is above FRAME on the same stack is
 * there to be read; on another stack it may be gone. */
INSIDE_ON_STACK static bool is_there(unsigned index, uintptr_t frame)
{
	const struct inside *place = places[index].place;

	if (!is_on_stack(frame) || !is_on_stack((uintptr_t)place))
		return true;
	return (uintptr_t)place > frame && place->number == places[index].number;
}

/* Forgets the innermost places that were left. FRAME: of the caller. */
static void forget_left(uintptr_t frame)
{
	if (depth && !stack.is_known)
		find_stack();
	while (depth && !is_there(depth - 1, frame))
		depth--;
}

static bool any_is(enum inside_kind kind)
{
	for (unsigned i = 0; i < depth; i++)
		if (places[i].kind == kind)
			return true;
	return false;
}

bool inside_enter(struct inside *place, enum inside_kind kind)
{
	bool was_inside;

	/* What is at PLACE itself is of a function that was left. */
	forget_left((uintptr_t)place);
	was_inside = any_is(kind);
	/* No two numbers of a thread are the same, and none is likely to be there by chance. */
	place->number = (uintptr_t)place ^ ++last_number * 0x9e3779b97f4a7c15u;
	if (depth < DEPTH) {
		places[depth].place = place;
		places[depth].number = place->number;
		places[depth++].kind = kind;
	}
	return was_inside;
}

void inside_leave(struct inside *place)
{
	unsigned index = depth;

	while (index && places[index - 1].number != place->number)
		index--;
	if (index)
		depth = index - 1;
	place->number = 0;
}

__attribute__((noinline)) bool inside_is(enum inside_kind kind)
{
	forget_left((uintptr_t)__builtin_frame_address(0));
	return any_is(kind);
}
