/* The cache of captured graphs, by name of the work and addresses; the least recently used graph
 * is released first. The name is what the caller stated, or a number of the call that added the
 * work: handles or pointers that happen to be equal never share a graph. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "patch/cache.h"
#include "patch/captured_graph.h"
#include "patch/context.h"
#include "patch/errors.h"

enum { DEFAULT_CAPACITY = 16 };

/* Beginning of a name. It has no padding, because names are compared as bytes. */
struct name_head {
	uint64_t number;    /* of the call that added the work; 0: the caller gave a key */
	uint64_t key_bytes; /* size of the key, which follows */
	uint64_t is_collective, communicator, count;
	uint32_t operation, type;
};

struct cache_name {
	_Atomic uint32_t references;
	struct dagpatch_cache *cache;
	size_t size;
	struct name_head head;
	uint8_t key[];
};

/* A name's head and key, then the addresses. */
struct cache_key {
	uint64_t hash;
	size_t size;
	uint8_t bytes[];
};

struct entry {
	struct cache_key *key;
	uint64_t used; /* value of cache.uses at the last use */
	struct captured_graph *graph;
};

struct dagpatch_cache {
	struct dagpatch_context *context;
	_Atomic uint32_t references; /* the caller's, and one of each name */
	pthread_mutex_t lock;
	struct dagpatch_cache_options options;
	struct entry *entries;
	uint32_t count;
	uint64_t uses;
	/* number of dagpatch_cache_rejoin calls, and of first votes since the last one */
	uint64_t epoch, rounds;
	bool is_broken; /* a vote failed: the position of the other ranks is unknown */
	struct dagpatch_cache_stats stats;
};

int dagpatch_cache_create(struct dagpatch_context *context,
			  const struct dagpatch_cache_options *options,
			  struct dagpatch_cache **ret_cache)
{
	struct dagpatch_cache *cache;
	int err;

	if (!context || !ret_cache)
		return -EINVAL;
	cache = calloc(1, sizeof(*cache));
	err = cache ? sized_read(&cache->options, sizeof(cache->options), options) : -ENOMEM;
	if (err < 0) {
		free(cache);
		return err;
	}
	cache->context = context;
	if (cache->options.capacity == 0)
		cache->options.capacity = DEFAULT_CAPACITY;
	cache->entries = calloc(cache->options.capacity, sizeof(*cache->entries));
	if (!cache->entries) {
		free(cache);
		return -ENOMEM;
	}
	pthread_mutex_init(&cache->lock, NULL);
	cache->references = 1;
	context->references++;
	*ret_cache = cache;
	return 0;
}

static void entry_release(struct entry *entry)
{
	captured_graph_release(entry->graph);
	free(entry->key);
	*entry = (struct entry){0};
}

void cache_retain(struct dagpatch_cache *cache)
{
	cache->references++;
}

void cache_release(struct dagpatch_cache *cache)
{
	struct dagpatch_context *context = cache->context;
	struct device_visit visit;
	bool is_inside;

	if (--cache->references > 0)
		return;
	is_inside = device_enter(context->device, &visit) == 0;
	for (uint32_t i = 0; i < cache->count; i++)
		entry_release(&cache->entries[i]);
	if (is_inside)
		device_leave(&visit);
	free(cache->entries);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
	context_release(context);
}

void dagpatch_cache_destroy(struct dagpatch_cache *cache)
{
	if (cache)
		cache_release(cache);
}

bool cache_is_of(const struct dagpatch_cache *cache, const struct dagpatch_context *context)
{
	return cache->context == context;
}

/* ---- names and keys ---- */

struct cache_name *cache_name_create(struct dagpatch_cache *cache,
				     const struct dagpatch_capture *capture)
{
	static _Atomic uint64_t numbers;
	const struct dagpatch_collective *collective = capture->collective;
	struct cache_name *name = NULL;

	if (capture->key_bytes <= SIZE_MAX / 2)
		name = calloc(1, sizeof(*name) + capture->key_bytes);
	if (!name)
		return NULL;
	name->references = 1;
	name->cache = cache;
	cache_retain(cache);
	name->size = sizeof(name->head) + capture->key_bytes;
	name->head.number = capture->key ? 0 : ++numbers;
	name->head.key_bytes = capture->key_bytes;
	if (collective) {
		name->head.is_collective = 1;
		name->head.communicator = collective->communicator;
		name->head.count = collective->count;
		name->head.operation = collective->operation;
		name->head.type = collective->type;
	}
	if (capture->key)
		memcpy(name->key, capture->key, capture->key_bytes);
	return name;
}

struct cache_name *cache_name_copy(struct cache_name *name)
{
	if (name)
		name->references++;
	return name;
}

static uint64_t hash_bytes(const uint8_t *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	return hash;
}

struct cache_key *cache_key_create(const struct cache_name *name, const uint64_t *addresses,
				   uint32_t count)
{
	size_t size = name->size + count * sizeof(*addresses);
	struct cache_key *key = malloc(sizeof(*key) + size);

	if (!key)
		return NULL;
	_Static_assert(offsetof(struct cache_name, key) ==
			       offsetof(struct cache_name, head) + sizeof(struct name_head),
		       "copied as one");
	memcpy(key->bytes, &name->head, sizeof(name->head));
	memcpy(key->bytes + sizeof(name->head), name->key, name->head.key_bytes);
	if (count > 0)
		memcpy(key->bytes + name->size, addresses, count * sizeof(*addresses));
	key->size = size;
	key->hash = hash_bytes(key->bytes, size);
	return key;
}

/* ---- entries ---- */

static struct entry *find(struct dagpatch_cache *cache, const struct cache_key *key)
{
	for (uint32_t i = 0; i < cache->count; i++) {
		const struct cache_key *other = cache->entries[i].key;

		if (other->hash == key->hash && other->size == key->size &&
		    memcmp(other->bytes, key->bytes, key->size) == 0)
			return &cache->entries[i];
	}
	return NULL;
}

struct captured_graph *cache_find(struct dagpatch_cache *cache, const struct cache_key *key)
{
	struct captured_graph *graph = NULL;
	struct entry *entry;

	pthread_mutex_lock(&cache->lock);
	entry = find(cache, key);
	if (entry) {
		entry->used = ++cache->uses;
		graph = entry->graph;
		graph->references++;
	}
	pthread_mutex_unlock(&cache->lock);
	return graph;
}

/* Call with the lock. */
static struct entry *make_room(struct dagpatch_cache *cache)
{
	struct entry *oldest = &cache->entries[0];

	if (cache->count < cache->options.capacity)
		return &cache->entries[cache->count++];
	for (uint32_t i = 1; i < cache->count; i++)
		if (cache->entries[i].used < oldest->used)
			oldest = &cache->entries[i];
	entry_release(oldest);
	cache->stats.evictions++;
	return oldest;
}

void cache_put(struct dagpatch_cache *cache, struct cache_key *key, struct captured_graph *graph)
{
	struct entry *entry;

	pthread_mutex_lock(&cache->lock);
	graph->references++;
	entry = find(cache, key);
	if (entry)
		entry_release(entry);
	else
		entry = make_room(cache);
	*entry = (struct entry){key, ++cache->uses, graph};
	pthread_mutex_unlock(&cache->lock);
}

/* Releases the entries of the call NUMBER or, if NUMBER is 0, those with this key. Returns how
 * many. */
static int drop(struct dagpatch_cache *cache, uint64_t number, const void *key, size_t key_bytes)
{
	uint32_t kept = 0, before;

	pthread_mutex_lock(&cache->lock);
	before = cache->count;
	for (uint32_t i = 0; i < before; i++) {
		struct entry entry = cache->entries[i];
		struct name_head head;

		memcpy(&head, entry.key->bytes, sizeof(head));
		if (head.number == number && head.key_bytes == key_bytes &&
		    (key_bytes == 0 ||
		     memcmp(entry.key->bytes + sizeof(head), key, key_bytes) == 0))
			entry_release(&entry);
		else
			cache->entries[kept++] = entry;
	}
	cache->count = kept;
	pthread_mutex_unlock(&cache->lock);
	return (int)(before - kept);
}

void cache_name_release(struct cache_name *name)
{
	if (!name || --name->references > 0)
		return;
	if (name->head.number)
		drop(name->cache, name->head.number, NULL, 0);
	cache_release(name->cache);
	free(name);
}

int dagpatch_cache_drop(struct dagpatch_cache *cache, const void *key, size_t key_bytes)
{
	struct device_visit visit;
	int err;

	if (!cache || !key || key_bytes == 0)
		return -EINVAL;
	err = device_enter(cache->context->device, &visit);
	if (err < 0)
		return err;
	err = drop(cache, 0, key, key_bytes);
	device_leave(&visit);
	return err;
}

/* ---- votes and counts ---- */

void cache_count(struct dagpatch_cache *cache, bool is_hit)
{
	pthread_mutex_lock(&cache->lock);
	if (is_hit)
		cache->stats.hits++;
	else
		cache->stats.misses++;
	pthread_mutex_unlock(&cache->lock);
}

bool cache_votes(const struct dagpatch_cache *cache)
{
	return cache->options.vote != NULL;
}

bool cache_votes_always(const struct dagpatch_cache *cache)
{
	return cache->options.vote && !cache->options.ranks_change_together;
}

enum { VALUE_WORD, VALUE_VOTE, VALUE_OTHER_VOTE, VALUE_TAG, VALUE_OTHER_TAG, VALUES };

/* Stores VALUE and its negation: after the minimum over all ranks, the two still belong together
 * only if all ranks have the same value. */
static void put_both(int64_t *values, int64_t value)
{
	values[0] = value;
	values[1] = -value;
}

static bool is_equal(const int64_t *least)
{
	return least[0] == -least[1];
}

/* Returns the number of the vote that begins, or -EPIPE. */
static int64_t begin_vote(struct dagpatch_cache *cache, enum dagpatch_vote_phase phase)
{
	int64_t number = -EPIPE;

	pthread_mutex_lock(&cache->lock);
	if (!cache->is_broken) {
		cache->rounds += phase == DAGPATCH_VOTE_BEFORE;
		number = (int64_t)(cache->rounds * 2 + (phase == DAGPATCH_VOTE_AFTER));
		cache->stats.votes++;
	}
	pthread_mutex_unlock(&cache->lock);
	return number;
}

static int call_vote(struct dagpatch_cache *cache, const struct dagpatch_vote *vote,
		     int64_t *ret_least)
{
	return cache->options.vote(cache->options.vote_user, vote, ret_least);
}

/* Other ranks may be threads of this process. While this thread waits for them, the driver lets
 * them in. */
static int call_vote_inside(struct dagpatch_cache *cache, const struct dagpatch_vote *vote,
			    int64_t *ret_least)
{
	struct patch_device *device = cache->context->device;
	int err;

	if (device->driver->pause)
		device->driver->pause(device);
	err = call_vote(cache, vote, ret_least);
	if (device->driver->resume)
		device->driver->resume(device);
	device->driver->settle(device);
	return err;
}

int cache_vote(struct dagpatch_cache *cache, const struct ballot *ballot,
	       struct vote_answer *ret_answer)
{
	int64_t values[VALUES], least[VALUES], number = begin_vote(cache, ballot->phase);
	struct dagpatch_vote vote = {sizeof(vote), ballot->phase, VALUES, values,
				     cache->options.vote_timeout_ns};
	int err;

	if (number < 0)
		return (int)number;
	values[VALUE_WORD] = ballot->word;
	put_both(&values[VALUE_VOTE], number);
	put_both(&values[VALUE_TAG], (int64_t)(ballot->tag & INT64_MAX));
	memcpy(least, values, sizeof(least));
	err = ballot->is_inside ? call_vote_inside(cache, &vote, least)
				: call_vote(cache, &vote, least);
	if (err >= 0 && !is_equal(&least[VALUE_VOTE]))
		err = -EPROTO;
	if (err < 0) {
		pthread_mutex_lock(&cache->lock);
		cache->is_broken = true;
		pthread_mutex_unlock(&cache->lock);
		return err;
	}
	ret_answer->least = (enum vote_word)least[VALUE_WORD];
	ret_answer->is_tag_equal = is_equal(&least[VALUE_TAG]);
	return 0;
}

uint64_t cache_tag(struct dagpatch_cache *cache)
{
	uint64_t tag;

	pthread_mutex_lock(&cache->lock);
	tag = cache->epoch << 40 | cache->rounds;
	pthread_mutex_unlock(&cache->lock);
	return tag;
}

int dagpatch_cache_rejoin(struct dagpatch_cache *cache)
{
	struct device_visit visit;
	int err;

	if (!cache || !cache_votes(cache))
		return -EINVAL;
	err = device_enter(cache->context->device, &visit);
	if (err < 0)
		return err;
	pthread_mutex_lock(&cache->lock);
	for (uint32_t i = 0; i < cache->count; i++)
		entry_release(&cache->entries[i]);
	cache->count = 0;
	cache->rounds = 0;
	cache->epoch++;
	cache->is_broken = false;
	pthread_mutex_unlock(&cache->lock);
	device_leave(&visit);
	return 0;
}

int dagpatch_cache_stats(struct dagpatch_cache *cache, struct dagpatch_cache_stats *ret_stats)
{
	struct dagpatch_cache_stats stats;
	size_t size;

	if (!cache || !ret_stats)
		return -EINVAL;
	size = ret_stats->size < sizeof(stats) ? ret_stats->size : sizeof(stats);
	if (size < sizeof(stats.size))
		return -EINVAL;
	pthread_mutex_lock(&cache->lock);
	stats = cache->stats;
	stats.entries = cache->count;
	pthread_mutex_unlock(&cache->lock);
	stats.size = size;
	memcpy(ret_stats, &stats, size);
	return 0;
}
