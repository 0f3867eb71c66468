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

/* Keeps a copy of TEXT as the value of VARIABLE, if it is not empty and there is room. */
static void keep(enum env_variable variable, const char *text)
{
	size_t bytes = text ? strlen(text) + 1 : 0;

	if (remembered.texts[variable] || bytes <= 1 ||
	    bytes > sizeof(remembered.memory) - remembered.used)
		return;
	remembered.texts[variable] = memcpy(remembered.memory + remembered.used, text, bytes);
	remembered.used += bytes;
}

void env_take_settings(const struct inject_settings *settings)
{
	if (!env_is_set(ENV_SPOOL))
		keep(ENV_SPOOL, settings->spool);
	if (!env_is_set(ENV_WAIT))
		keep(ENV_WAIT, settings->wait);
	if (!env_is_set(ENV_CALLS))
		keep(ENV_CALLS, settings->calls);
}

void env_remember(void)
{
	/* Another thread copies the same values. */
	if (atomic_exchange(&remembered.is_busy, true))
		return;
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		keep(kept[i], getenv(variables[kept[i]].name));
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
