#include "capture/env.h"

#include <stdlib.h>

#include "base/amount.h"

static const struct {
	const char *name;
	const char *value;
} variables[ENV_COUNT] = {
#define X(id, name, value, help) [ENV_##id] = {name, value},
	ENV_VARIABLES(X)
#undef X
};

const char *env_text(enum env_variable variable)
{
	const char *text = getenv(variables[variable].name);

	return text && *text ? text : variables[variable].value;
}

bool env_is_set(enum env_variable variable)
{
	const char *text = getenv(variables[variable].name);

	return text && *text;
}

uint64_t env_bytes(enum env_variable variable, uint64_t fallback)
{
	uint64_t bytes;
	const char *end = amount_bytes(env_text(variable), &bytes);

	return end && !*end ? bytes : fallback;
}

bool env_size_and_age(enum env_variable variable, uint64_t *ret_bytes, uint64_t *ret_ns)
{
	return amount_size_and_age(env_text(variable), ret_bytes, ret_ns);
}
