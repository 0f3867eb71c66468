/* Reads the environment variables of record/environment.h. */
#include "capture/env.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"

static const struct {
	const char *name;
	const char *value;
} variables[ENV_COUNT] = {
#define X(id, name, value, help) [ENV_##id] = {name, value},
	ENVIRONMENT_VARIABLES(X)
#undef X
};

/* The variables whose values env_remember copies. */
static const enum env_variable kept[] = {ENV_SPOOL, ENV_RECORDER, ENV_READY, ENV_RING, ENV_CALLS};

static struct {
	atomic_bool is_busy;			/* a thread is in env_remember */
	_Atomic(const char *) texts[ENV_COUNT]; /* in memory[]; NULL: read from the environment */
	char memory[2 * PATH_MAX];
	size_t used; /* bytes of memory[] */
} remembered;

void env_remember(void)
{
	/* Another thread copies the same values. */
	if (atomic_exchange(&remembered.is_busy, true))
		return;
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		const char *text = getenv(variables[kept[i]].name);
		size_t bytes = text ? strlen(text) + 1 : 0;

		if (remembered.texts[kept[i]] || bytes <= 1 ||
		    bytes > sizeof(remembered.memory) - remembered.used)
			continue;
		remembered.texts[kept[i]] =
			memcpy(remembered.memory + remembered.used, text, bytes);
		remembered.used += bytes;
	}
	atomic_store(&remembered.is_busy, false);
}

static const char *read_text(enum env_variable variable)
{
	const char *text = remembered.texts[variable];

	return text ? text : getenv(variables[variable].name);
}

const char *env_text(enum env_variable variable)
{
	const char *text = read_text(variable);

	return text && *text ? text : variables[variable].value;
}

bool env_calls_are_selected(void)
{
	return strcmp(env_text(ENV_CALLS), "all") != 0;
}

bool env_is_set(enum env_variable variable)
{
	const char *text = read_text(variable);

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
