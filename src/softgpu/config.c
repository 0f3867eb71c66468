/* The table of the configuration's keys, the parser that uses it, and the help text. */
#include "softgpu/config.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dagtap/softgpu.h>

#include "base/clock.h"
#include "base/timer.h"
#include "softgpu/device_hold.h"

#define ENVIRONMENT_VARIABLE "DAGTAP_SOFTGPU"
#define MAX_WORD_BYTES	     384
#define KERNEL_KEY	     "kernel:"
#define UUID_KEY	     "uuid:"

enum key_type { KEY_U32, KEY_U64, KEY_I64, KEY_BYTES, KEY_BOOL, KEY_DOUBLE, KEY_TEXT };

struct key {
	const char *name;
	enum key_type type;
	size_t offset; /* of the field in struct softgpu_config */
	/* The range of a number. Of KEY_TEXT max is the size of the field; 0: that of a path. */
	double min, max;
	const char *fallback; /* the default, as text */
	const char *help;
};

#define FIELD(field) offsetof(struct softgpu_config, field)

static const struct key keys[] = {
	{"gpus", KEY_U32, FIELD(gpus), 1, SOFTGPU_MAX_GPUS, "1", "number of GPUs"},
	{"partitions", KEY_U32, FIELD(partitions), 1, SOFTGPU_MAX_SLICES, "1",
	 "GPUs that each of these is offered as"},
	{"vram", KEY_BYTES, FIELD(vram_bytes), 1 << 20, 1e15, "16G",
	 "memory of each GPU in bytes (K, M, G, T)"},
	{"large_bar", KEY_BOOL, FIELD(large_bar), 0, 1, "0", "the CPU may access GPU memory"},
	{"kernel_ns", KEY_U64, FIELD(kernel_ns), 0, 1e15, "5000", "modelled time of a kernel"},
	{"copy_ns", KEY_U64, FIELD(copy_ns), 0, 1e15, "5000", "fixed part of a copy's time"},
	{"copy_bytes_per_us", KEY_U64, FIELD(copy_bytes_per_us), 0, 1e15, "16000",
	 "bandwidth of a copy; 0: without limit"},
	{"overlap", KEY_U32, FIELD(overlap), 1, SOFTGPU_MAX_OVERLAP, "8",
	 "packets without barrier bit in flight on a queue"},
	{"event_limit", KEY_U32, FIELD(event_limit), 0, 1 << 20, "4096",
	 "interrupt signals that get an event"},
	{"signal_ns", KEY_U64, FIELD(signal_ns), 0, 1e9, "0",
	 "charged for creating an interrupt signal"},
	{"doorbell_ns", KEY_U64, FIELD(doorbell_ns), 0, 1e9, "0",
	 "charged for ringing a hardware doorbell"},
	{"doorbell_bound", KEY_BOOL, FIELD(doorbell_bound), 0, 1, "0",
	 "no packet behind the doorbell's index is taken, whatever the write index says"},
	{"schedule", KEY_U64, FIELD(schedule), 0, 9e18, "0",
	 "work is done in an order drawn from this seed, and late; 0: as it comes"},
	{"intercept_batch", KEY_BOOL, FIELD(intercept_batch), 0, 1, "0",
	 "interceptors get all contiguous packets, not one a call"},
	{"clock_offset_ticks", KEY_I64, FIELD(clock_offset_ticks), -9e18, 9e18, "0",
	 "the device clock when the host's CLOCK_MONOTONIC is 0"},
	{"clock_drift_ppm", KEY_DOUBLE, FIELD(clock_drift_ppm), -1e5, 1e5, "0",
	 "the device clock's speed against 100 MHz"},
	{"rocr7_tables", KEY_I64, FIELD(rocr7_tables), -1, CONFIG_NEWEST_TABLES, "-1",
	 "tools get dispatch tables of ROCR 7.2: 1; 5: 0; newest: 2; -1: of the HIP library"},
	{"counters", KEY_BOOL, FIELD(counters), 0, 1, "1",
	 "tools may ask for its counters; 0: as of a real device there are none"},
	{"report", KEY_TEXT, FIELD(report), 0, 0, "",
	 "counters as JSON at exit: a path (%p: process id) or -"},
	{"truth", KEY_TEXT, FIELD(truth), 0, 0, "",
	 "host start and end of each dispatch and copy: a path (%p: process id)"},
	{"packets", KEY_TEXT, FIELD(packets), 0, 0, "",
	 "every packet as the device read it: a path (%p: process id)"},
	{"work_log", KEY_TEXT, FIELD(work_log), 0, 0, "",
	 "each packet and copy taken: a path (%p: process id, else appended)"},
	{"hold_at", KEY_TEXT, FIELD(hold_at), 0, sizeof(((struct softgpu_config *)NULL)->hold_at),
	 "", "COUNTER:N: the thread that counts the N-th is held there"},
	{"hold_pipe", KEY_TEXT, FIELD(hold_pipe), 0, 0, "",
	 "named pipe that tells of it, and lets go when written to; none: no work is taken"},
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

/* The first one is the default, because all releases of HIP and current compilers support it. */
static const char *const isas[] = {"gfx90a", "gfx906", "gfx942", "gfx1030"};

#define ISA_COUNT (sizeof(isas) / sizeof(isas[0]))

/* Where to write the message of an error. */
struct complaint {
	char *message; /* may be NULL */
	size_t bytes;
};

/* Writes the message and returns -EINVAL. */
static int complain(const struct complaint *complaint, const char *what, const char *word)
{
	if (complaint->message && complaint->bytes)
		snprintf(complaint->message, complaint->bytes, "softgpu: %s: \"%s\"", what, word);
	return -EINVAL;
}

/* Returns the factor of a suffix: 1 for "", 1024 for "K" and so on; 0 when TEXT is invalid. */
static uint64_t suffix_factor(const char *text)
{
	static const char letters[] = "KMGT";
	const char *letter;

	if (!*text)
		return 1;
	letter = strchr(letters, *text);
	return letter && !text[1] ? 1ull << (10 * (letter - letters + 1)) : 0;
}

/* Parses TEXT as a number of KEY's type. Returns false when it is invalid or out of range. */
static bool parse_integer(const struct key *key, const char *text, int64_t *ret_value)
{
	uint64_t factor;
	long long value;
	char *end;

	errno = 0;
	value = strtoll(text, &end, 10);
	factor = key->type == KEY_BYTES ? suffix_factor(end) : *end == '\0';
	if (end == text || errno || !factor)
		return false;
	*ret_value = (int64_t)((uint64_t)value * factor);
	return (double)value * (double)factor >= key->min &&
	       (double)value * (double)factor <= key->max;
}

static bool store_double(const struct key *key, const char *text, void *field)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= key->min && value <= key->max))
		return false;
	*(double *)field = value;
	return true;
}

/* Stores TEXT if the field has room for it: key->max bytes, or as many as a path has. */
static bool store_text(const struct key *key, const char *text, void *field)
{
	size_t room =
		key->max > 0 ? (size_t)key->max : sizeof(((struct softgpu_config *)NULL)->report);

	if (strlen(text) >= room)
		return false;
	strcpy(field, text);
	return true;
}

static bool store_value(const struct key *key, const char *text, struct softgpu_config *config)
{
	void *field = (char *)config + key->offset;
	int64_t value;

	if (key->type == KEY_DOUBLE)
		return store_double(key, text, field);
	if (key->type == KEY_TEXT)
		return store_text(key, text, field);
	if (!parse_integer(key, text, &value))
		return false;
	if (key->type == KEY_U32)
		*(uint32_t *)field = (uint32_t)value;
	else if (key->type == KEY_BOOL)
		*(bool *)field = value != 0;
	else
		*(int64_t *)field = value;
	return true;
}

static const struct key *find_key(const char *name)
{
	for (size_t i = 0; i < KEY_COUNT; i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

static bool store_isa(const char *word, struct softgpu_config *config)
{
	for (size_t i = 0; i < ISA_COUNT; i++) {
		if (!strcmp(isas[i], word)) {
			strcpy(config->isa, word);
			return true;
		}
	}
	return false;
}

/* Stores "kernel:GLOB=NS". The glob may contain an equals sign: the last one in the word counts. */
static bool store_pattern(const char *glob, const char *text, struct softgpu_config *config)
{
	const struct key number = {.type = KEY_U64, .max = 1e15};
	uint32_t at = config->kernel_pattern_count;
	int64_t ns;

	if (at == SOFTGPU_MAX_PATTERNS || !*glob ||
	    strlen(glob) >= sizeof(config->kernel_pattern[at].glob) ||
	    !parse_integer(&number, text, &ns))
		return false;
	strcpy(config->kernel_pattern[at].glob, glob);
	config->kernel_pattern[at].ns = (uint64_t)ns;
	config->kernel_pattern_count++;
	return true;
}

/* Stores "uuid:CARD=TEXT". */
static bool store_uuid(const char *card, const char *text, struct softgpu_config *config)
{
	const struct key number = {.type = KEY_U32, .max = SOFTGPU_MAX_GPUS - 1};
	uint32_t at = config->uuid_count;
	int64_t value;

	if (at == SOFTGPU_MAX_UUIDS || strlen(text) >= SOFTGPU_UUID_BYTES ||
	    !parse_integer(&number, card, &value))
		return false;
	config->uuid[at].card = (uint32_t)value;
	strcpy(config->uuid[at].text, text);
	config->uuid_count++;
	return true;
}

/* Parses one part of the string, between two commas. Changes WORD. */
static int parse_word(char *word, struct softgpu_config *config, const struct complaint *complaint)
{
	char whole[MAX_WORD_BYTES];
	char *equals = strrchr(word, '=');
	const struct key *key;

	strcpy(whole, word);
	if (!equals)
		return store_isa(word, config) ? 0 : complain(complaint, "unknown GPU", word);
	*equals = '\0';
	if (!strncmp(word, KERNEL_KEY, sizeof(KERNEL_KEY) - 1))
		return store_pattern(word + sizeof(KERNEL_KEY) - 1, equals + 1, config)
			       ? 0
			       : complain(complaint, "bad or too many kernel patterns", whole);
	if (!strncmp(word, UUID_KEY, sizeof(UUID_KEY) - 1))
		return store_uuid(word + sizeof(UUID_KEY) - 1, equals + 1, config)
			       ? 0
			       : complain(complaint, "bad or too many uuids", whole);
	key = find_key(word);
	if (!key)
		return complain(complaint, "unknown key", whole);
	if (!store_value(key, equals + 1, config) || !hold_point_is_valid(config->hold_at))
		return complain(complaint, "bad value", whole);
	return 0;
}

static void set_defaults(struct softgpu_config *config)
{
	memset(config, 0, sizeof(*config));
	strcpy(config->isa, isas[0]);
	for (size_t i = 0; i < KEY_COUNT; i++)
		store_value(&keys[i], keys[i].fallback, config);
}

int config_parse(const char *string, struct softgpu_config *ret_config, char *message,
		 unsigned long message_size)
{
	const struct complaint complaint = {message, message_size};
	const char *whole = string;
	int err = 0;

	set_defaults(ret_config);
	while (!err && *string) {
		size_t length = strcspn(string, ",");
		char word[MAX_WORD_BYTES];

		if (length >= sizeof(word)) {
			err = complain(&complaint, "word too long", "");
			break;
		}
		memcpy(word, string, length);
		word[length] = '\0';
		if (length)
			err = parse_word(word, ret_config, &complaint);
		string += length + (string[length] == ',');
	}
	if (!err && ret_config->gpus * ret_config->partitions > SOFTGPU_MAX_GPUS)
		err = complain(&complaint, "too many GPUs with their partitions", whole);
	if (err)
		set_defaults(ret_config);
	return err;
}

static struct softgpu_config parsed;
static char parse_message[MAX_WORD_BYTES + 64];
static pthread_once_t parse_once = PTHREAD_ONCE_INIT;

static void parse_environment(void)
{
	const struct complaint complaint = {parse_message, sizeof(parse_message)};
	const char *string = getenv(ENVIRONMENT_VARIABLE);
	const char *timers = getenv("DAGTAP_TIMERS"), *clock = getenv("DAGTAP_CLOCK");

	config_parse(string ? string : "", &parsed, parse_message, sizeof(parse_message));
	hold_configure(parsed.hold_at, parsed.hold_pipe);
	if (timers)
		timer_configure(timers);
	if (clock && *clock && clock_take_page(clock))
		complain(&complaint, "DAGTAP_CLOCK is no page of a clock", clock);
}

const struct softgpu_config *config_get(void)
{
	pthread_once(&parse_once, parse_environment);
	return &parsed;
}

const char *config_error(void)
{
	pthread_once(&parse_once, parse_environment);
	return parse_message[0] ? parse_message : NULL;
}

int softgpu_config_check(const char *string, char *ret_message, size_t message_bytes)
{
	struct softgpu_config scratch;

	return string ? config_parse(string, &scratch, ret_message, message_bytes) : -EINVAL;
}

/* The help text while it is written. */
struct text {
	char *to;
	size_t room;
	size_t length; /* of the whole text, which may be more than there is room for */
};

static void append(struct text *text, const char *head, const char *fallback, const char *help)
{
	size_t left = text->length < text->room ? text->room - text->length : 0;
	int length = snprintf(left ? text->to + text->length : NULL, left, "%-20s %-8s %s\n", head,
			      fallback, help);

	if (length > 0)
		text->length += (size_t)length;
}

size_t softgpu_config_help(char *ret_text, size_t text_bytes)
{
	struct text text = {ret_text, ret_text ? text_bytes : 0, 0};

	for (size_t i = 0; i < ISA_COUNT; i++)
		append(&text, isas[i], i ? "" : "default", "the kind of GPU");
	for (size_t i = 0; i < KEY_COUNT; i++)
		append(&text, keys[i].name, keys[i].fallback, keys[i].help);
	append(&text, KERNEL_KEY "GLOB", "",
	       "modelled time of the kernels whose name matches GLOB");
	append(&text, UUID_KEY "N", "", "what the N-th GPU, from 0, says its uuid is");
	return text.length;
}
