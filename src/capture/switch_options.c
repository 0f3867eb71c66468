/* Reads the options of the switch; see switch_options.h. */
#include "capture/switch_options.h"

#include <string.h>

#include "base/amount.h"
#include "capture/env.h"
#include "capture/log.h"

static uint64_t read_number(enum env_variable variable)
{
	uint64_t number = 0;

	/* Only digits: what K, M and G would mean here is not asked for. */
	return amount_bytes(env_text(variable), &number) ? number : 0;
}

static uint64_t read_seconds(enum env_variable variable)
{
	uint64_t ns = 0;

	return amount_seconds(env_text(variable), &ns) ? ns : 0;
}

static bool read_flag(enum env_variable variable)
{
	return env_is_set(variable) && strcmp(env_text(variable), "0") != 0;
}

void switch_options_read(struct switch_options *ret_options,
			 char ret_scope_name[RECORD_CAPTURE_RANGE_BYTES])
{
	bool is_range = env_is_set(ENV_CAPTURE_RANGE);
	const char *name = env_text(is_range ? ENV_CAPTURE_RANGE : ENV_ITERATIONS);

	*ret_scope_name = '\0';
	if (strlen(name) < RECORD_CAPTURE_RANGE_BYTES)
		strcpy(ret_scope_name, name);
	else
		log_line("the name of the scope is too long: no scope is watched");
	*ret_options = (struct switch_options){
		.is_waiting = read_flag(ENV_WAIT) || read_flag(ENV_DYNOLOG),
		.takes_calls = read_flag(ENV_WAIT) && strcmp(env_text(ENV_WAIT), "2") != 0,
		.has_scope = is_range && *ret_scope_name,
		.counts_scope = *ret_scope_name,
		.delay_ns = read_seconds(ENV_DELAY),
		.duration_ns = read_seconds(ENV_DURATION),
		.skip = read_number(ENV_SCOPE_SKIP),
		.count = read_number(ENV_SCOPE_COUNT),
	};
}
