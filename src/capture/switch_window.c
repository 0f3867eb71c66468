/* Requests in iterations, and the instances that are counted for them; see switch_window.h. */
#include "capture/switch_window.h"

#include "capture/capture_switch.h"
#include "capture/switch_scopes.h"

/* A static text: who asked for the window. Under the lock of the events. */
static const char *asked_by;

bool switch_ask_iterations(const struct switch_iterations *wanted, const char *who)
{
	struct switch_events events;
	bool is_taken;

	if (!switch_watches_scope() || !switch_take_events(&events))
		return false;
	is_taken = events.policy->window.state != SWITCH_WINDOW_OPEN;
	if (is_taken) {
		switch_policy_ask_window(events.policy, wanted->first, wanted->round_up,
					 wanted->count);
		asked_by = who;
	}
	switch_give_events();
	return is_taken;
}

enum switch_window_state switch_read_iterations(uint32_t *ret_number)
{
	enum switch_window_state state;
	struct switch_events events;

	/* The caller asks again. */
	if (!switch_take_events(&events))
		return SWITCH_WINDOW_AHEAD;
	state = events.policy->window.state;
	*ret_number = events.policy->window.recording;
	if (state == SWITCH_WINDOW_OVER)
		events.policy->window.state = SWITCH_WINDOW_NONE;
	switch_give_events();
	return state;
}

bool switch_drop_iterations(void)
{
	struct switch_events events;
	bool is_ahead;

	if (!switch_take_events(&events))
		return false;
	is_ahead = events.policy->window.state == SWITCH_WINDOW_AHEAD;
	if (is_ahead)
		events.policy->window.state = SWITCH_WINDOW_NONE;
	switch_give_events();
	return is_ahead;
}

/* A window that opens or ends is a call of those that asked for it. */
static void say_cause(const struct switch_events *events, enum switch_window_state before)
{
	enum switch_window_state now = events->policy->window.state;

	if (now == SWITCH_WINDOW_OPEN && before != SWITCH_WINDOW_OPEN)
		*events->call = asked_by;
	else if (now != SWITCH_WINDOW_OPEN && before == SWITCH_WINDOW_OPEN)
		*events->end = asked_by;
}

struct switch_instance switch_instance_begins(void)
{
	struct switch_instance instance = {0};
	enum switch_window_state before;
	struct switch_events events;

	if (!switch_take_events(&events))
		return instance;
	before = events.policy->window.state;
	instance = switch_policy_enter(events.policy);
	say_cause(&events, before);
	switch_give_events();
	return instance;
}
