/* Wraps the dispatch tables that vendors' libraries hand over; see dispatch_table.h. */
#include "capture/dispatch_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/capture_session.h"

/* The vendor's layout. */
struct dispatch_table {
	size_t size_bytes;
	void (*functions[])(void);
};

/* Larger than any table will ever be: a larger size means that this is not a table. */
#define SIZE_BYTES_MOST 65536

static uint32_t major_of(uint64_t lib_version)
{
	return (uint32_t)(lib_version / 10000);
}

static bool is_usable(const struct table_door *door, const struct table_taken *taken)
{
	uint32_t major = major_of(taken->lib_version);

	return major >= door->major_first && major <= door->major_last &&
	       taken->size_bytes > sizeof(size_t) && taken->size_bytes <= SIZE_BYTES_MOST &&
	       taken->size_bytes % sizeof(size_t) == 0;
}

static size_t functions_in(const struct table_taken *taken)
{
	return taken->size_bytes / sizeof(void *) - 1;
}

/* The vendor's function is stored before the wrapper that reads it. The release pairs with the
 * program's call through the slot, which depends on the address that it loads. */
static size_t wrap(struct table_door *door, const struct table_layout *layout,
		   struct dispatch_table *table, uint32_t which)
{
	size_t count = functions_in(&door->state.taken[which]);
	size_t wrapped = 0;

	for (size_t i = 0; i < count && i < layout->slot_count; i++) {
		const struct table_slot *slot = &layout->slots[i];

		if (!slot->wrappers[which] || !table->functions[i])
			continue;
		atomic_store_explicit(&door->nexts[which][slot->function],
				      (void *)table->functions[i], memory_order_relaxed);
		__atomic_store_n(&table->functions[i], slot->wrappers[which], __ATOMIC_RELEASE);
		wrapped++;
	}
	return wrapped;
}

static bool is_known(const struct table_state *state, const void *table)
{
	for (uint32_t i = 0; i < state->count && i < DOOR_TABLES; i++)
		if (state->taken[i].table == table)
			return true;
	return false;
}

static int take(struct table_door *door, const struct table_layout *layout,
		struct dispatch_table *table, uint64_t lib_version)
{
	struct table_state *state = &door->state;
	uint32_t which = state->count;

	if (is_known(state, table))
		return 0;
	state->count++;
	state->slot_count = layout->slot_count;
	if (which >= DOOR_TABLES)
		return 0;
	state->taken[which] = (struct table_taken){
		.table = table,
		.lib_version = lib_version < UINT32_MAX ? (uint32_t)lib_version : UINT32_MAX,
		.size_bytes = table->size_bytes,
	};
	if (!is_usable(door, &state->taken[which]))
		return -ENOTSUP;
	state->taken[which].wrapped_count = wrap(door, layout, table, which);
	return 0;
}

int table_take(struct table_door *door, const struct table_layout *layout, void *table,
	       uint64_t lib_version)
{
	int result;

	if (!table)
		return -ENOTSUP;
	pthread_mutex_lock(&door->state.lock);
	result = take(door, layout, table, lib_version);
	pthread_mutex_unlock(&door->state.lock);
	if (session_is_on())
		table_tell(door);
	return result;
}

static enum record_source_state describe(const struct table_door *door,
					 const struct table_taken *taken, char *text, size_t size)
{
	size_t has = functions_in(taken), known = door->state.slot_count;
	int written;

	if (!is_usable(door, taken)) {
		snprintf(text, size,
			 "the table of a library of version %u.%u (%zu bytes) is left alone: known "
			 "are majors %u to %u",
			 major_of(taken->lib_version), taken->lib_version / 100 % 100,
			 taken->size_bytes, door->major_first, door->major_last);
		return RECORD_SOURCE_ABSENT;
	}
	written = snprintf(text, size, "%u.%u: %zu of its %zu functions wrapped",
			   major_of(taken->lib_version), taken->lib_version / 100 % 100,
			   taken->wrapped_count, has);
	if (has > known)
		snprintf(text + written, size - (size_t)written, ", %zu are newer than this tool",
			 has - known);
	else if (has < known)
		snprintf(text + written, size - (size_t)written, ", %zu fewer than this tool knows",
			 known - has);
	return RECORD_SOURCE_ON;
}

void table_tell(struct table_door *door)
{
	struct table_state *state = &door->state;
	enum record_source_state overall = RECORD_SOURCE_ON;
	char text[512] = "";
	size_t used = 0;

	pthread_mutex_lock(&state->lock);
	for (uint32_t i = 0; i < state->count && i < DOOR_TABLES; i++) {
		if (used)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "; ");
		if (describe(door, &state->taken[i], text + used, sizeof(text) - used) !=
		    RECORD_SOURCE_ON)
			overall = i || state->count > 1 ? RECORD_SOURCE_PARTIAL
							: RECORD_SOURCE_ABSENT;
		used = strlen(text);
	}
	if (state->count > DOOR_TABLES) {
		overall = RECORD_SOURCE_PARTIAL;
		snprintf(text + used, sizeof(text) - used, "; %u more tables are left alone",
			 state->count - DOOR_TABLES);
	}
	pthread_mutex_unlock(&state->lock);
	if (*text)
		session_source(door->name, overall, text);
}

void table_reset(struct table_door *door)
{
	door->state.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
