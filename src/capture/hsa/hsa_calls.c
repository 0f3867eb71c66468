/* Reads the runtime's functions from its dispatch tables and stores the wrappers there. The byte
 * offset of every function is compared with the table's size before its slot is touched. */
#include "capture/hsa/hsa_calls.h"

#include <stdio.h>
#include <string.h>

/* The newest known major version of the list of tables. */
#define ROOT_MAJOR_LAST 3

struct hsa_calls hsa_next;
/* The runtime's tables, and the wrappers that were stored there. Set by hsa_calls_wrap. */
static struct hsa_api_table *live_table;
static const struct hsa_calls *live_wrappers;

static char tables_text[192];

static const struct call_row {
	size_t kept_at; /* offset in struct hsa_calls; identifies the function */
	size_t core;	/* offset in the core table; 0: a function of the extension table */
	size_t ext[2]; /* offsets in the extension table by its major version, 1 and 2; 0: absent */
} call_rows[] = {
#define X(name)                                                                                    \
	{offsetof(struct hsa_calls, name), offsetof(struct hsa_core_table, name##_fn), {0, 0}},
	HSA_CORE_CALLS(X)
#undef X
#define X(name, major1, major2) {offsetof(struct hsa_calls, name), 0, {major1, major2}},
		HSA_EXT_CALLS(X)
#undef X
};

#define ROW_COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* Returns the slot of TABLE that holds a row's function, or NULL when the table does not reach that
 * far. The minor version of a table is its size in bytes. */
static void (**table_slot(const struct hsa_api_table *table, const struct call_row *row))(void)
{
	const struct hsa_table_version *sub = &table->core->version;
	size_t offset = row->core;

	if (!offset) {
		sub = &table->amd_ext->version;
		offset = row->ext[sub->major_id - 1];
	}
	if (!offset || offset + sizeof(void *) > sub->minor_id)
		return NULL;
	return (void (**)(void))(uintptr_t)((const char *)sub + offset);
}

static const char *layout_problem(const struct hsa_api_table *table)
{
	if (!table)
		return "the runtime gave no dispatch tables";
	if (table->version.major_id < 1 || table->version.major_id > ROOT_MAJOR_LAST)
		return "unknown major version of the list of tables";
	if (!table->core || !table->amd_ext)
		return "the runtime gave no dispatch tables";
	if (table->core->version.major_id < 1 || table->core->version.major_id > 2)
		return "unknown major version of the core table";
	if (table->amd_ext->version.major_id < 1 || table->amd_ext->version.major_id > 2)
		return "unknown major version of the extension table";
	return NULL;
}

/* The sizes of a table that are known: from that of ROCr 7.2.4 on. */
struct known_bytes {
	size_t least, most;
};

/* Appends a table's size to tables_text at USED, as "core 1016 bytes", and the difference if the
 * size is not known. Returns the length of the text. */
static size_t describe(size_t used, const char *name, const struct hsa_table_version *version,
		       struct known_bytes known)
{
	size_t bytes = version->minor_id, room = sizeof(tables_text) - used;
	bool is_shorter = bytes < known.least;
	size_t difference = is_shorter ? known.least - bytes : bytes - known.most;
	char *at = tables_text + used;

	if (bytes >= known.least && bytes <= known.most)
		return used + (size_t)snprintf(at, room, "%s %zu bytes", name, bytes);
	return used + (size_t)snprintf(at, room, "%s %zu bytes, %zu functions %s than our list",
				       name, bytes, difference / sizeof(void *),
				       is_shorter ? "shorter" : "longer");
}

static void describe_tables(const struct hsa_api_table *table)
{
	const struct known_bytes core = {sizeof(struct hsa_core_table),
					 sizeof(struct hsa_core_table)};
	const struct known_bytes ext_1 = {sizeof(struct hsa_amd_ext_table),
					  sizeof(struct hsa_amd_ext_table)};
	const struct known_bytes ext_2 = {HSA_EXT_2_hsa_amd_counted_queue_acquire, HSA_EXT_2_BYTES};
	const struct hsa_table_version *ext = &table->amd_ext->version;
	size_t used = describe(0, "core", &table->core->version, core);

	used += (size_t)snprintf(tables_text + used, sizeof(tables_text) - used, "; ");
	describe(used, "extensions", ext, ext->major_id == 1 ? ext_1 : ext_2);
}

const char *hsa_calls_text(void)
{
	return tables_text;
}

bool hsa_calls_load(const struct hsa_api_table *table, const char **ret_reason)
{
	struct hsa_calls calls = {0};

	*ret_reason = layout_problem(table);
	if (*ret_reason)
		return false;
	for (size_t i = 0; i < ROW_COUNT(call_rows); i++) {
		void (**slot)(void) = table_slot(table, &call_rows[i]);

		if (slot)
			memcpy((char *)&calls + call_rows[i].kept_at, slot, sizeof(*slot));
		if (call_rows[i].core && (!slot || !*slot)) {
			*ret_reason = "the core table lacks a function";
			return false;
		}
	}
	hsa_next = calls;
	describe_tables(table);
	return true;
}

/* Returns the function of CALLS that is kept at KEPT_AT. */
static void (*call_at(const struct hsa_calls *calls, size_t kept_at))(void)
{
	void (*call)(void);

	memcpy(&call, (const char *)calls + kept_at, sizeof(call));
	return call;
}

void hsa_calls_wrap(struct hsa_api_table *table, const struct hsa_calls *wrappers)
{
	live_table = table;
	live_wrappers = wrappers;
	for (size_t i = 0; i < ROW_COUNT(call_rows); i++) {
		void (*wrapper)(void) = call_at(wrappers, call_rows[i].kept_at);
		void (**slot)(void) = wrapper ? table_slot(table, &call_rows[i]) : NULL;

		if (slot && *slot)
			*slot = wrapper;
	}
}

void hsa_calls_wrap_replaced(const struct hsa_calls *second, struct hsa_calls *ret_replaced)
{
	for (size_t i = 0; i < ROW_COUNT(call_rows); i++) {
		size_t kept_at = call_rows[i].kept_at;
		void (*wrapper)(void) = call_at(second, kept_at);
		void (**slot)(void) = wrapper ? table_slot(live_table, &call_rows[i]) : NULL;

		if (!slot || *slot == call_at(live_wrappers, kept_at) || *slot == wrapper)
			continue;
		memcpy((char *)ret_replaced + kept_at, slot, sizeof(*slot));
		ret_replaced->hsa_queue_load_write_index_relaxed =
			live_table->core->hsa_queue_load_write_index_relaxed_fn;
		/* The slot is changed last, with release: other threads may be calling through
		 * it. */
		__atomic_store_n(slot, wrapper, __ATOMIC_RELEASE);
	}
}
