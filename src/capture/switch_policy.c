/* Whether the recording of a process is to be on; see switch_policy.h. */
#include "capture/switch_policy.h"

void switch_policy_init(struct switch_policy *policy, const struct switch_options *options,
			uint64_t now_ns)
{
	*policy = (struct switch_policy){
		.options = *options,
		.begin_ns = now_ns,
		.is_started = !options->is_waiting && !options->has_scope,
	};
}

/* Returns A + B, or SWITCH_NEVER when the sum is too large. */
static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > SWITCH_NEVER - b ? SWITCH_NEVER : a + b;
}

static uint64_t first_ns(const struct switch_policy *policy)
{
	return sum(policy->begin_ns, policy->options.delay_ns);
}

static uint64_t last_ns(const struct switch_policy *policy)
{
	if (!policy->recorded_ns || !policy->options.duration_ns)
		return SWITCH_NEVER;
	return sum(policy->recorded_ns, policy->options.duration_ns);
}

bool switch_policy_is_over(const struct switch_policy *policy, uint64_t now_ns)
{
	return now_ns >= last_ns(policy);
}

bool switch_policy_wants(const struct switch_policy *policy, uint64_t now_ns)
{
	return now_ns >= first_ns(policy) && !switch_policy_is_over(policy, now_ns) &&
	       (policy->is_started || policy->open > 0);
}

uint64_t switch_policy_next_ns(const struct switch_policy *policy, uint64_t now_ns)
{
	if (now_ns < first_ns(policy))
		return first_ns(policy);
	return switch_policy_is_over(policy, now_ns) ? SWITCH_NEVER : last_ns(policy);
}

void switch_policy_start(struct switch_policy *policy)
{
	policy->is_started = true;
	policy->starts++;
}

void switch_policy_withdraw(struct switch_policy *policy, uint64_t number)
{
	if (policy->starts == number)
		policy->is_started = false;
}

void switch_policy_stop(struct switch_policy *policy)
{
	policy->is_started = false;
	policy->open = 0;
	policy->stops++;
	if (policy->window.state == SWITCH_WINDOW_OPEN)
		policy->window.state = SWITCH_WINDOW_OVER;
}

void switch_policy_ask_window(struct switch_policy *policy, uint64_t first, uint64_t round_up,
			      uint64_t count)
{
	uint64_t next = policy->instances, rest = next % round_up;

	if (first < next)
		first = rest ? sum(next, round_up - rest) : next;
	policy->window = (struct switch_window){
		.state = SWITCH_WINDOW_AHEAD, .first = first, .count = count};
}

static void enter_window(struct switch_policy *policy, uint64_t instance)
{
	struct switch_window *window = &policy->window;

	if (window->state == SWITCH_WINDOW_AHEAD && instance >= window->first) {
		/* A recording that another call has started would end with the window. */
		window->state = policy->is_started ? SWITCH_WINDOW_OVER : SWITCH_WINDOW_OPEN;
		if (window->state == SWITCH_WINDOW_OPEN)
			switch_policy_start(policy);
	} else if (window->state == SWITCH_WINDOW_OPEN &&
		   instance >= sum(window->first, window->count)) {
		switch_policy_stop(policy);
	}
}

static bool is_selected(const struct switch_policy *policy, uint64_t instance)
{
	const struct switch_options *options = &policy->options;

	if (!options->has_scope || instance < options->skip)
		return false;
	return !options->count || instance - options->skip < options->count;
}

struct switch_instance switch_policy_enter(struct switch_policy *policy)
{
	uint64_t instance = policy->instances++;

	enter_window(policy, instance);
	if (!is_selected(policy, instance))
		return (struct switch_instance){0};
	policy->selected++;
	policy->open++;
	return (struct switch_instance){.stops = policy->stops + 1};
}

void switch_policy_leave(struct switch_policy *policy, struct switch_instance instance)
{
	if (instance.stops == policy->stops + 1)
		policy->open--;
}

void switch_policy_began(struct switch_policy *policy, uint64_t now_ns, uint32_t recording)
{
	if (policy->window.state == SWITCH_WINDOW_OPEN && !policy->window.recording)
		policy->window.recording = recording;
	if (!policy->recorded_ns)
		policy->recorded_ns = now_ns ? now_ns : 1;
}
