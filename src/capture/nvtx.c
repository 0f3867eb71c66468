/* NVTX: the ranges and marks of a program and its libraries become scopes. NVTX is a set of
 * headers; each library that includes them asks the library that NVTX_INJECTION64_PATH names to
 * fill its table of functions. Functions that we do not fill, for names of threads and
 * resources, stay null pointers, and their calls cost the test of one. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <dagtap/annotate.h>

#include "capture/capture_session.h"
#include "capture/scope.h"
#include "capture/texts.h"
#include "capture/visible.h"
#include "capture/wide.h"
#include "vendor/nvtx_types.h"

#define NO_LEVEL	(-1)
#define ATTRIBUTES_MOST 4
#define WIDE_BYTES	1024 /* on the program's stack; longer wide texts are cut */

/* The program's handle of a domain or a registered text is its row. Rows are never freed, since
 * another thread may use a handle at any time. A null handle is the default domain. */
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static struct texts domains, texts;

/* The level that a push returns to the program; dagtap does not use it. */
static __thread int level __attribute__((tls_model("initial-exec")));

/* Names of categories, which are numbers within a domain. A category that finds no room has no
 * name. */
enum { CATEGORY_SLOTS = 1024, CATEGORY_PROBES = 32 };

static struct {
	/* domain << 32 | category, which is not 0. Stored after the name; 0: free. */
	_Atomic uint64_t key;
	_Atomic(const struct text *) name;
} categories[CATEGORY_SLOTS];

static struct texts category_names;

static uint32_t number_of(const struct text *domain)
{
	return domain ? domain->number : 0;
}

static uint64_t category_key(const struct text *domain, uint32_t category)
{
	return (uint64_t)number_of(domain) << 32 | category;
}

/* Returns the slot of KEY, or the free slot where it belongs; -1: there is no room. */
static int find_category(uint64_t key)
{
	uint32_t first = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32);

	for (uint32_t i = 0; i < CATEGORY_PROBES; i++) {
		uint32_t at = (first + i) % CATEGORY_SLOTS;
		uint64_t there = atomic_load_explicit(&categories[at].key, memory_order_acquire);

		if (there == key || !there)
			return (int)at;
	}
	return -1;
}

static const struct text *category_name(const struct text *domain, uint32_t category)
{
	uint64_t key = category_key(domain, category);
	int at = find_category(key);

	/* The acquire pairs with the release of the key in name_category_in: a slot with this
	 * key has its name. */
	if (at < 0 || atomic_load_explicit(&categories[at].key, memory_order_acquire) != key)
		return NULL;
	return atomic_load_explicit(&categories[at].name, memory_order_acquire);
}

/* Returns the text of a range or mark, "" when there is none. A wide text is converted into
 * WIDE. The program's own text, of type NVTX_TEXT, may be NULL. */
static const char *message_of(const struct nvtx_attributes *given, char wide[WIDE_BYTES])
{
	const struct text *registered;

	if (!given)
		return "";
	if (given->message_type == NVTX_TEXT)
		return given->message.text;
	if (given->message_type == NVTX_WIDE_TEXT) {
		wide_to_utf8(given->message.wide, wide, WIDE_BYTES);
		return wide;
	}
	registered = given->message_type == NVTX_REGISTERED ? given->message.registered : NULL;
	return registered ? registered->text : "";
}

static bool has_payload(const struct nvtx_attributes *given)
{
	return given->payload_type > NVTX_PAYLOAD_NONE &&
	       given->payload_type <= NVTX_PAYLOAD_FLOAT32;
}

/* Returns the registered text that says all there is to say of a range; NULL: there is more. */
static struct text *shared_text(const struct text *domain, const struct nvtx_attributes *given)
{
	struct text *text =
		given && given->message_type == NVTX_REGISTERED ? given->message.registered : NULL;

	return text && text->group == domain && !given->category && !has_payload(given) ? text
											: NULL;
}

static struct dagtap_attribute payload_of(const struct nvtx_attributes *given)
{
	const char *key = RECORD_NVTX_PAYLOAD_KEY;

	switch (given->payload_type) {
	case NVTX_PAYLOAD_UINT64:
		return dagtap_attribute_uint64(key, given->payload.uint64);
	case NVTX_PAYLOAD_INT64:
		return dagtap_attribute_int64(key, given->payload.int64);
	case NVTX_PAYLOAD_FLOAT64:
		return dagtap_attribute_double(key, given->payload.float64);
	case NVTX_PAYLOAD_UINT32:
		return dagtap_attribute_uint64(key, given->payload.uint32);
	case NVTX_PAYLOAD_INT32:
		return dagtap_attribute_int64(key, given->payload.int32);
	default:
		return dagtap_attribute_double(key, (double)given->payload.float32);
	}
}

/* Returns the number of attributes set. */
static size_t attributes_of(const struct text *domain, const struct nvtx_attributes *given,
			    struct dagtap_attribute ret_attributes[ATTRIBUTES_MOST])
{
	const struct text *name = NULL;
	size_t count = 0;

	if (given && given->category)
		name = category_name(domain, given->category);
	if (domain)
		ret_attributes[count++] =
			dagtap_attribute_text(RECORD_NVTX_DOMAIN_KEY, domain->text);
	if (given && given->category)
		ret_attributes[count++] =
			dagtap_attribute_uint64(RECORD_NVTX_CATEGORY_KEY, given->category);
	if (name)
		ret_attributes[count++] =
			dagtap_attribute_text(RECORD_NVTX_CATEGORY_NAME_KEY, name->text);
	if (given && has_payload(given))
		ret_attributes[count++] = payload_of(given);
	return count;
}

/* ---- the functions that NVTX calls ---- */

static int push_in(struct text *domain, const struct nvtx_attributes *given)
{
	struct text *shared = shared_text(domain, given);
	struct dagtap_attribute attributes[ATTRIBUTES_MOST];
	char wide[WIDE_BYTES];

	if (shared)
		scope_push_shared(number_of(domain), shared);
	else
		scope_push_nvtx(number_of(domain), message_of(given, wide), attributes,
				attributes_of(domain, given, attributes));
	return level++;
}

static int pop_in(struct text *domain)
{
	scope_pop_nvtx(number_of(domain));
	return level > 0 ? --level : NO_LEVEL;
}

static uint64_t start_in(struct text *domain, const struct nvtx_attributes *given)
{
	struct dagtap_attribute attributes[ATTRIBUTES_MOST];
	size_t count = attributes_of(domain, given, attributes);
	char wide[WIDE_BYTES];

	return scope_range_start_with(message_of(given, wide), attributes, count);
}

static void end_in(struct text *domain, uint64_t id)
{
	if (id)
		scope_range_stop(id);
}

static void mark_in(struct text *domain, const struct nvtx_attributes *given)
{
	struct dagtap_attribute attributes[ATTRIBUTES_MOST];
	size_t count = attributes_of(domain, given, attributes);
	char wide[WIDE_BYTES];

	scope_mark_with(message_of(given, wide), attributes, count);
}

static int push_ex(const struct nvtx_attributes *given)
{
	return push_in(NULL, given);
}

static int push_text(const char *text)
{
	scope_push_nvtx(0, text, NULL, 0);
	return level++;
}

static int pop(void)
{
	return pop_in(NULL);
}

static uint64_t start_ex(const struct nvtx_attributes *given)
{
	return start_in(NULL, given);
}

static uint64_t start_text(const char *text)
{
	return scope_range_start(text);
}

static void end(uint64_t id)
{
	end_in(NULL, id);
}

static void mark_ex(const struct nvtx_attributes *given)
{
	mark_in(NULL, given);
}

static int push_wide(const wchar_t *text)
{
	char utf8[WIDE_BYTES];

	wide_to_utf8(text, utf8, sizeof(utf8));
	return push_text(utf8);
}

static uint64_t start_wide(const wchar_t *text)
{
	char utf8[WIDE_BYTES];

	wide_to_utf8(text, utf8, sizeof(utf8));
	return scope_range_start(utf8);
}

static void mark_wide(const wchar_t *text)
{
	char utf8[WIDE_BYTES];

	wide_to_utf8(text, utf8, sizeof(utf8));
	scope_mark(utf8);
}

static struct text *keep_name(struct texts *names, const struct text *group, const char *name)
{
	struct text *row;

	if (!name)
		return NULL;
	pthread_mutex_lock(&names_lock);
	row = texts_keep(names, group, name);
	pthread_mutex_unlock(&names_lock);
	return row;
}

/* When memory is short, NULL: the default domain. */
static struct text *create_domain(const char *name)
{
	return keep_name(&domains, NULL, name);
}

static struct text *register_text(struct text *domain, const char *text)
{
	return keep_name(&texts, domain, text);
}

static struct text *create_domain_wide(const wchar_t *name)
{
	char utf8[WIDE_BYTES];

	wide_to_utf8(name, utf8, sizeof(utf8));
	return name ? create_domain(utf8) : NULL;
}

static struct text *register_text_wide(struct text *domain, const wchar_t *text)
{
	char utf8[WIDE_BYTES];

	wide_to_utf8(text, utf8, sizeof(utf8));
	return text ? register_text(domain, utf8) : NULL;
}

static void name_category_in(struct text *domain, uint32_t category, const char *name)
{
	uint64_t key = category_key(domain, category);
	const struct text *row = category ? keep_name(&category_names, NULL, name) : NULL;
	int at;

	if (!row)
		return;
	pthread_mutex_lock(&names_lock);
	at = find_category(key);
	if (at >= 0) {
		atomic_store_explicit(&categories[at].name, row, memory_order_release);
		atomic_store_explicit(&categories[at].key, key, memory_order_release);
	}
	pthread_mutex_unlock(&names_lock);
}

static void name_category_wide_in(struct text *domain, uint32_t category, const wchar_t *name)
{
	char utf8[WIDE_BYTES];

	wide_to_utf8(name, utf8, sizeof(utf8));
	name_category_in(domain, category, utf8);
}

static void name_category(uint32_t category, const char *name)
{
	name_category_in(NULL, category, name);
}

static void name_category_wide(uint32_t category, const wchar_t *name)
{
	name_category_wide_in(NULL, category, name);
}

/* ---- with payloads of the program's own layout, which are not read ---- */

static void mark_payload(struct text *domain, const void *payloads, size_t count)
{
	mark_in(domain, NULL);
}

static int push_payload(struct text *domain, const void *payloads, size_t count)
{
	return push_in(domain, NULL);
}

static int pop_payload(struct text *domain, const void *payloads, size_t count)
{
	return pop_in(domain);
}

static uint64_t start_payload(struct text *domain, const void *payloads, size_t count)
{
	return start_in(domain, NULL);
}

static void end_payload(struct text *domain, uint64_t id, const void *payloads, size_t count)
{
	end_in(domain, id);
}

/* ---- the entry points ---- */

struct entry {
	unsigned int id;
	void *function;
};

static const struct entry core[] = {
	{NVTX_CORE_MarkEx, mark_ex},
	{NVTX_CORE_MarkA, scope_mark},
	{NVTX_CORE_RangeStartEx, start_ex},
	{NVTX_CORE_RangeStartA, start_text},
	{NVTX_CORE_RangeEnd, end},
	{NVTX_CORE_RangePushEx, push_ex},
	{NVTX_CORE_RangePushA, push_text},
	{NVTX_CORE_RangePop, pop},
	{NVTX_CORE_MarkW, mark_wide},
	{NVTX_CORE_RangeStartW, start_wide},
	{NVTX_CORE_RangePushW, push_wide},
	{NVTX_CORE_NameCategoryA, name_category},
	{NVTX_CORE_NameCategoryW, name_category_wide},
};

static const struct entry core2[] = {
	{NVTX_CORE2_DomainMarkEx, mark_in},
	{NVTX_CORE2_DomainRangeStartEx, start_in},
	{NVTX_CORE2_DomainRangeEnd, end_in},
	{NVTX_CORE2_DomainRangePushEx, push_in},
	{NVTX_CORE2_DomainRangePop, pop_in},
	{NVTX_CORE2_DomainRegisterStringA, register_text},
	{NVTX_CORE2_DomainCreateA, create_domain},
	{NVTX_CORE2_DomainNameCategoryA, name_category_in},
	{NVTX_CORE2_DomainNameCategoryW, name_category_wide_in},
	{NVTX_CORE2_DomainRegisterStringW, register_text_wide},
	{NVTX_CORE2_DomainCreateW, create_domain_wide},
};

static const struct entry payload[] = {
	{NVTX_PAYLOAD_Mark, mark_payload},    {NVTX_PAYLOAD_RangePush, push_payload},
	{NVTX_PAYLOAD_RangePop, pop_payload}, {NVTX_PAYLOAD_RangeStart, start_payload},
	{NVTX_PAYLOAD_RangeEnd, end_payload},
};

static void fill(const struct nvtx_callbacks *callbacks, enum nvtx_module module,
		 const struct entry *entries, size_t entry_count)
{
	nvtx_function **table = NULL;
	unsigned int count = 0;

	if (!callbacks->get_table(module, &table, &count) || !table)
		return;
	for (size_t i = 0; i < entry_count; i++) {
		if (entries[i].id < count && table[entries[i].id])
			*table[entries[i].id] = (nvtx_function)entries[i].function;
	}
}

CAPTURE_EXPORT int InitializeInjectionNvtx2(nvtx_get_table *get_table);
CAPTURE_EXPORT int InitializeInjectionNvtxExtension(struct nvtx_extension *extension);

static void lock_names(void)
{
	pthread_mutex_lock(&names_lock);
}

static void unlock_names(void)
{
	pthread_mutex_unlock(&names_lock);
}

/* The lock is taken around forks, so that no child is created while another thread holds it.
 * Runs once: each library with NVTX asks for the table. */
static void watch_forks(void)
{
	static _Atomic bool watched;

	if (!atomic_exchange(&watched, true))
		pthread_atfork(lock_names, unlock_names, unlock_names);
}

/* Called by NVTX in each library that includes it. Returns 1 when the functions are in the
 * table; 0: NVTX uses none of ours. */
int InitializeInjectionNvtx2(nvtx_get_table *get_table)
{
	const struct nvtx_callbacks *callbacks = get_table(NVTX_TABLE_CALLBACKS);

	if (!session_may_record() || !callbacks || callbacks->bytes < sizeof(*callbacks) ||
	    !callbacks->get_table)
		return 0;
	watch_forks();
	fill(callbacks, NVTX_MODULE_CORE, core, sizeof(core) / sizeof(*core));
	fill(callbacks, NVTX_MODULE_CORE2, core2, sizeof(core2) / sizeof(*core2));
	return 1;
}

/* The same for an extension of NVTX. A program that begins a range by the core's functions may end
 * it by the extension's: NCCL does, to add its results. */
int InitializeInjectionNvtxExtension(struct nvtx_extension *extension)
{
	struct nvtx_slots *segment;

	if (!session_may_record() || !extension || extension->bytes < sizeof(*extension) ||
	    extension->id != NVTX_EXTENSION_PAYLOAD || extension->segment_count == 0)
		return 0;
	watch_forks();
	segment = &extension->segments[0];
	for (size_t i = 0; i < sizeof(payload) / sizeof(*payload); i++) {
		if (payload[i].id < segment->count)
			segment->slots[payload[i].id] = (nvtx_function)payload[i].function;
	}
	return 1;
}
