/* Work that must not be patched: captured anew at new addresses, or taken from a cache if all ranks can. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/recording.h"

/* What a captured graph is known by, bytes without holes. */
struct key_head {
	uint64_t communicator, count;
	uint32_t operation, type;
	uint64_t record, user; /* of what is no collective */
};

static uint64_t address_of(const struct dagpatch_recording *recording, const struct again *again,
			   uint32_t index)
{
	return slot_address(recording, recording->wanted, again->slots[index]) +
	       again->offsets[index];
}

/* Addresses lie behind the head. Of malloc. */
static int make_key(struct dagpatch_recording *recording, const struct again *again,
		    struct cache_key *ret_key)
{
	struct key_head head = {0};
	size_t size = sizeof(head) + again->slot_count * sizeof(uint64_t);
	uint8_t *bytes = malloc(size);

	if (!bytes)
		return recording_fail(recording, -ENOMEM, "no memory for a cache's key");
	if (again->is_collective) {
		head.communicator = again->collective.communicator;
		head.count = again->collective.count;
		head.operation = again->collective.operation;
		head.type = again->collective.type;
	} else {
		head.record = (uintptr_t)again->record;
		head.user = (uintptr_t)again->user;
	}
	memcpy(bytes, &head, sizeof(head));
	for (uint32_t i = 0; i < again->slot_count; i++) {
		uint64_t address = address_of(recording, again, i);

		memcpy(bytes + sizeof(head) + i * sizeof(address), &address, sizeof(address));
	}
	*ret_key = (struct cache_key){bytes, size};
	return 0;
}

static bool is_needed(const struct dagpatch_recording *recording, const struct again *again)
{
	if (!again->current)
		return true;
	for (uint32_t i = 0; i < again->slot_count; i++)
		if (recording->is_changed[again->slots[i]] &&
		    !recording->slots[again->slots[i]].flags)
			return true;
	return false;
}

static int capture_next(struct dagpatch_recording *recording, struct again *again)
{
	void **addresses = malloc((again->slot_count + 1) * sizeof(void *));
	struct captured_graph *made = calloc(1, sizeof(*made));
	int rc = 0;

	if (!addresses || !made)
		rc = recording_fail(recording, -ENOMEM, "no memory for a capture");
	for (uint32_t i = 0; rc == 0 && i < again->slot_count; i++)
		addresses[i] = (void *)(uintptr_t)address_of(recording, again, i);
	if (rc == 0)
		rc = capture_graph(recording, again->record, again->user, addresses, &made->graph);
	free(addresses);
	if (rc < 0) {
		free(made);
		return rc;
	}
	made->references = 1;
	made->device = recording->device;
	captured_graph_release(again->next);
	again->next = made;
	return 0;
}

static int capture_into_cache(struct dagpatch_recording *recording, struct again *again)
{
	struct cache_key key;
	int rc = make_key(recording, again, &key);

	if (rc < 0)
		return rc;
	cache_count(again->cache, false);
	rc = capture_next(recording, again);
	if (rc == 0) {
		rc = cache_put(again->cache, &key, again->next);
		if (rc < 0)
			recording_fail(recording, rc, "no memory for the cache");
	}
	free((void *)key.bytes);
	return rc;
}

static int find_next(struct dagpatch_recording *recording, struct again *again)
{
	struct cache_key key;
	int rc = make_key(recording, again, &key);

	if (rc < 0)
		return rc;
	again->next = cache_find(again->cache, &key);
	free((void *)key.bytes);
	return 0;
}

/* Of one cache: whether something is needed, and whether all that is needed is there. */
static int look_up(struct dagpatch_recording *recording, struct dagpatch_cache *cache,
		   bool *ret_needs, bool *ret_has)
{
	*ret_needs = false;
	*ret_has = true;
	for (uint32_t i = 0; i < recording->again_count; i++) {
		struct again *again = &recording->agains[i];
		int rc;

		if (again->cache != cache || !is_needed(recording, again))
			continue;
		*ret_needs = true;
		rc = find_next(recording, again);
		if (rc < 0)
			return rc;
		*ret_has &= again->next != NULL;
	}
	return 0;
}

/* ALL: also what this rank has, for another one has not. */
static int capture_missing(struct dagpatch_recording *recording, struct dagpatch_cache *cache,
			   bool all)
{
	for (uint32_t i = 0; i < recording->again_count; i++) {
		struct again *again = &recording->agains[i];
		int rc;

		if (again->cache != cache)
			continue;
		if (all || (is_needed(recording, again) && !again->next)) {
			rc = capture_into_cache(recording, again);
			if (rc < 0)
				return rc;
		} else if (again->next) {
			cache_count(cache, true);
		}
	}
	return 0;
}

static int prepare_cached(struct dagpatch_recording *recording, struct dagpatch_cache *cache)
{
	bool needs, has, all_have;
	int rc = look_up(recording, cache, &needs, &has);

	if (rc < 0)
		return rc;
	all_have = has;
	if (cache_votes(cache) && (needs || cache_votes_always(cache))) {
		rc = cache_vote(cache, has, &all_have);
		if (rc < 0)
			return recording_fail(recording, rc, "the ranks' vote on captured work: %s",
					      strerror(-rc));
		return capture_missing(recording, cache, !all_have);
	}
	return capture_missing(recording, cache, false);
}

static bool is_first_of_cache(const struct dagpatch_recording *recording, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++)
		if (recording->agains[i].cache == recording->agains[index].cache)
			return false;
	return true;
}

int again_prepare(struct dagpatch_recording *recording)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < recording->again_count; i++) {
		struct again *again = &recording->agains[i];

		if (!again->cache) {
			if (is_needed(recording, again))
				rc = capture_next(recording, again);
		} else if (is_first_of_cache(recording, i)) {
			rc = prepare_cached(recording, again->cache);
		}
	}
	if (rc < 0)
		again_drop(recording);
	return rc;
}

void again_commit(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->again_count; i++) {
		struct again *again = &recording->agains[i];

		if (!again->next)
			continue;
		captured_graph_release(again->current);
		again->current = again->next;
		again->next = NULL;
	}
}

void again_drop(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->again_count; i++) {
		captured_graph_release(recording->agains[i].next);
		recording->agains[i].next = NULL;
	}
}
