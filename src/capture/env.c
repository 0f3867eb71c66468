#include "capture/env.h"

#include <stdlib.h>

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

static int shift_of_unit(const char *unit)
{
	switch (*unit) {
	case '\0':
		return 0;
	case 'K':
	case 'k':
		return 10;
	case 'M':
	case 'm':
		return 20;
	case 'G':
	case 'g':
		return 30;
	default:
		return -1;
	}
}

uint64_t env_bytes(enum env_variable variable, uint64_t fallback)
{
	const char *text = env_text(variable);
	char *end;
	uint64_t number = strtoull(text, &end, 10);
	int shift = shift_of_unit(end);

	if (end == text || shift < 0 || (*end && end[1]) || number > UINT64_MAX >> shift)
		return fallback;
	return number << shift;
}
