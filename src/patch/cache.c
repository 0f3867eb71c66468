/* Captured graphs by what they are and at which addresses; the least recently used goes. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "patch/recording.h"

enum { DEFAULT_CAPACITY = 16 };

struct entry {
	void *key;
	size_t key_size;
	uint64_t hash;
	uint64_t used; /* when, by the cache's count */
	struct captured_graph *graph;
};

struct dagpatch_cache {
	pthread_mutex_t lock;
	struct dagpatch_cache_options options;
	struct entry *entries;
	uint32_t count;
	uint64_t uses;
	struct dagpatch_cache_stats stats;
};

int dagpatch_cache_create(struct dagpatch_context *context,
			  const struct dagpatch_cache_options *options,
			  struct dagpatch_cache **ret_cache)
{
	struct dagpatch_cache *cache = calloc(1, sizeof(*cache));
	int rc = cache ? sized_read(&cache->options, sizeof(cache->options), options) : -ENOMEM;

	if (rc < 0) {
		free(cache);
		return rc;
	}
	if (cache->options.capacity == 0)
		cache->options.capacity = DEFAULT_CAPACITY;
	cache->entries = calloc(cache->options.capacity, sizeof(*cache->entries));
	if (!cache->entries) {
		free(cache);
		return -ENOMEM;
	}
	pthread_mutex_init(&cache->lock, NULL);
	*ret_cache = cache;
	return 0;
}

static void entry_release(struct entry *entry)
{
	captured_graph_release(entry->graph);
	free(entry->key);
	*entry = (struct entry){0};
}

void dagpatch_cache_destroy(struct dagpatch_cache *cache)
{
	if (!cache)
		return;
	for (uint32_t i = 0; i < cache->count; i++)
		entry_release(&cache->entries[i]);
	free(cache->entries);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

static uint64_t hash_key(const struct cache_key *key)
{
	const uint8_t *bytes = key->bytes;
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < key->size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	return hash;
}

static struct entry *find(struct dagpatch_cache *cache, const struct cache_key *key, uint64_t hash)
{
	for (uint32_t i = 0; i < cache->count; i++) {
		struct entry *entry = &cache->entries[i];

		if (entry->hash == hash && entry->key_size == key->size &&
		    memcmp(entry->key, key->bytes, key->size) == 0)
			return entry;
	}
	return NULL;
}

struct captured_graph *cache_find(struct dagpatch_cache *cache, const struct cache_key *key)
{
	uint64_t hash = hash_key(key);
	struct captured_graph *graph = NULL;
	struct entry *entry;

	pthread_mutex_lock(&cache->lock);
	entry = find(cache, key, hash);
	if (entry) {
		entry->used = ++cache->uses;
		graph = entry->graph;
		graph->references++;
	}
	pthread_mutex_unlock(&cache->lock);
	return graph;
}

/* With the lock. */
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

int cache_put(struct dagpatch_cache *cache, const struct cache_key *key,
	      struct captured_graph *graph)
{
	uint64_t hash = hash_key(key);
	void *copy = malloc(key->size);
	struct entry *entry;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, key->bytes, key->size);
	pthread_mutex_lock(&cache->lock);
	entry = find(cache, key, hash);
	if (entry)
		entry_release(entry);
	else
		entry = make_room(cache);
	graph->references++;
	*entry = (struct entry){copy, key->size, hash, ++cache->uses, graph};
	pthread_mutex_unlock(&cache->lock);
	return 0;
}

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

int cache_vote(struct dagpatch_cache *cache, bool has, bool *ret_all_have)
{
	int all_have = 0;
	int rc = cache->options.vote(cache->options.vote_user, has, cache->options.vote_timeout_ns,
				     &all_have);

	pthread_mutex_lock(&cache->lock);
	cache->stats.votes++;
	pthread_mutex_unlock(&cache->lock);
	if (rc < 0)
		return rc;
	*ret_all_have = all_have != 0;
	return 0;
}

int dagpatch_cache_stats(struct dagpatch_cache *cache, struct dagpatch_cache_stats *ret_stats)
{
	struct dagpatch_cache_stats stats;
	size_t size = ret_stats->size < sizeof(stats) ? ret_stats->size : sizeof(stats);

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
