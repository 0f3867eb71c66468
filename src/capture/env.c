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

bool env_is_set(enum env_variable variable)
{
	const char *text = getenv(variables[variable].name);

	return text && *text;
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

/* A number of bytes at TEXT; where it ends, NULL when it is none. */
static const char *read_bytes(const char *text, uint64_t *ret_bytes)
{
	char *end;
	uint64_t number = strtoull(text, &end, 10);
	int shift = *end == ',' ? 0 : shift_of_unit(end);

	if (end == text || shift < 0 || number > UINT64_MAX >> shift)
		return NULL;
	*ret_bytes = number << shift;
	return end + (shift > 0);
}

uint64_t env_bytes(enum env_variable variable, uint64_t fallback)
{
	uint64_t bytes;
	const char *end = read_bytes(env_text(variable), &bytes);

	return end && !*end ? bytes : fallback;
}

static bool read_seconds(const char *text, uint64_t *ret_ns)
{
	char *end;
	uint64_t seconds = strtoull(text, &end, 10);

	if (end == text || *end != 's' || end[1] || !seconds || seconds > UINT64_MAX / 1000000000u)
		return false;
	*ret_ns = seconds * 1000000000u;
	return true;
}

bool env_size_and_age(enum env_variable variable, uint64_t *ret_bytes, uint64_t *ret_ns)
{
	const char *text = env_text(variable), *end;
	uint64_t bytes = 0, ns = 0;

	if (!read_seconds(text, &ns)) {
		end = read_bytes(text, &bytes);
		if (!end || !bytes || (*end && (*end != ',' || !read_seconds(end + 1, &ns))))
			return false;
	}
	*ret_bytes = bytes;
	*ret_ns = ns;
	return true;
}
