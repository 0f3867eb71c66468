/* NVTX: ranges and marks that a program or its libraries make become scopes. NVTX lives in headers; each
 * library that includes them asks the one that NVTX_INJECTION64_PATH names to fill its table of
 * functions. What is not filled stays what it is, a test of a null pointer: texts of wide characters,
 * names of threads and categories, resources. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dagtap/annotate.h>

#include "capture/export.h"
#include "capture/scope.h"
#include "capture/session.h"
#include "vendor/nvtx_types.h"

#define NO_LEVEL	(-1)
#define ATTRIBUTES_MOST 3

/* What a program holds for a domain or a registered text; the same for the same name, and never freed:
 * another thread may use the handle at any time. */
struct nvtx_name {
	struct nvtx_name *next;
	uint32_t number; /* from 1; 0 is the default domain */
	char text[];
};

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static struct nvtx_name *domains, *texts;

/* The level that a push returns; nobody but the program reads it. */
static __thread int level __attribute__((tls_model("initial-exec")));

static uint32_t number_of(const struct nvtx_name *domain)
{
	return domain ? domain->number : 0;
}

static const char *message_of(const struct nvtx_attributes *given)
{
	const struct nvtx_name *registered;

	if (!given)
		return "";
	if (given->message_type == NVTX_TEXT)
		return given->message.text;
	registered = given->message_type == NVTX_REGISTERED ? given->message.registered : NULL;
	return registered ? registered->text : "";
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

static size_t attributes_of(const struct nvtx_name *domain, const struct nvtx_attributes *given,
			    struct dagtap_attribute ret_attributes[ATTRIBUTES_MOST])
{
	size_t count = 0;

	if (domain)
		ret_attributes[count++] =
			dagtap_attribute_text(RECORD_NVTX_DOMAIN_KEY, domain->text);
	if (given && given->category)
		ret_attributes[count++] =
			dagtap_attribute_uint64(RECORD_NVTX_CATEGORY_KEY, given->category);
	if (given && given->payload_type > NVTX_PAYLOAD_NONE &&
	    given->payload_type <= NVTX_PAYLOAD_FLOAT32)
		ret_attributes[count++] = payload_of(given);
	return count;
}

/* ---- what NVTX calls ---- */

static int push_in(struct nvtx_name *domain, const struct nvtx_attributes *given)
{
	struct dagtap_attribute attributes[ATTRIBUTES_MOST];
	size_t count = attributes_of(domain, given, attributes);

	scope_push_nvtx(number_of(domain), message_of(given), attributes, count);
	return level++;
}

static int pop_in(struct nvtx_name *domain)
{
	scope_pop_nvtx(number_of(domain));
	return level > 0 ? --level : NO_LEVEL;
}

static uint64_t start_in(struct nvtx_name *domain, const struct nvtx_attributes *given)
{
	struct dagtap_attribute attributes[ATTRIBUTES_MOST];
	size_t count = attributes_of(domain, given, attributes);

	return scope_range_start_with(message_of(given), attributes, count);
}

static void end_in(struct nvtx_name *domain, uint64_t id)
{
	if (id)
		scope_range_stop(id);
}

static void mark_in(struct nvtx_name *domain, const struct nvtx_attributes *given)
{
	struct dagtap_attribute attributes[ATTRIBUTES_MOST];
	size_t count = attributes_of(domain, given, attributes);

	scope_mark_with(message_of(given), attributes, count);
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

static struct nvtx_name *find_name(struct nvtx_name *list, const char *text)
{
	while (list && strcmp(list->text, text))
		list = list->next;
	return list;
}

static struct nvtx_name *make_name(struct nvtx_name **list, const char *text)
{
	size_t bytes = strlen(text) + 1;
	struct nvtx_name *name = malloc(sizeof(*name) + bytes);

	if (!name)
		return NULL;
	name->next = *list;
	name->number = *list ? (*list)->number + 1 : 1;
	memcpy(name->text, text, bytes);
	*list = name;
	return name;
}

static struct nvtx_name *keep_name(struct nvtx_name **list, const char *text)
{
	struct nvtx_name *name;

	if (!text)
		return NULL;
	pthread_mutex_lock(&names_lock);
	name = find_name(*list, text);
	if (!name)
		name = make_name(list, text);
	pthread_mutex_unlock(&names_lock);
	return name;
}

/* Out of memory it is the default domain. */
static struct nvtx_name *create_domain(const char *name)
{
	return keep_name(&domains, name);
}

static struct nvtx_name *register_text(struct nvtx_name *domain, const char *text)
{
	return keep_name(&texts, text);
}

/* ---- the door ---- */

struct entry {
	unsigned int id;
	void *function;
};

static const struct entry core[] = {
	{NVTX_CORE_MarkEx, mark_ex},	    {NVTX_CORE_MarkA, scope_mark},
	{NVTX_CORE_RangeStartEx, start_ex}, {NVTX_CORE_RangeStartA, start_text},
	{NVTX_CORE_RangeEnd, end},	    {NVTX_CORE_RangePushEx, push_ex},
	{NVTX_CORE_RangePushA, push_text},  {NVTX_CORE_RangePop, pop},
};

static const struct entry core2[] = {
	{NVTX_CORE2_DomainMarkEx, mark_in},
	{NVTX_CORE2_DomainRangeStartEx, start_in},
	{NVTX_CORE2_DomainRangeEnd, end_in},
	{NVTX_CORE2_DomainRangePushEx, push_in},
	{NVTX_CORE2_DomainRangePop, pop_in},
	{NVTX_CORE2_DomainRegisterStringA, register_text},
	{NVTX_CORE2_DomainCreateA, create_domain},
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

/* 1: the functions are in their places. */
int InitializeInjectionNvtx2(nvtx_get_table *get_table)
{
	const struct nvtx_callbacks *callbacks = get_table(NVTX_TABLE_CALLBACKS);

	if (!session_may_record() || !callbacks || callbacks->bytes < sizeof(*callbacks) ||
	    !callbacks->get_table)
		return 0;
	fill(callbacks, NVTX_MODULE_CORE, core, sizeof(core) / sizeof(*core));
	fill(callbacks, NVTX_MODULE_CORE2, core2, sizeof(core2) / sizeof(*core2));
	return 1;
}
