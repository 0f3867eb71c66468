/* Work that must not be patched (DAGPATCH_RECAPTURE): it is recaptured at new addresses, or
 * taken from a cache if all ranks can do so. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/cache.h"
#include "patch/capture.h"
#include "patch/captured_graph.h"
#include "patch/errors.h"
#include "patch/images.h"
#include "patch/node.h"
#include "patch/node_attributes.h"
#include "patch/recapture.h"
#include "patch/recording.h"
#include "patch/retire.h"
#include "patch/slot_add.h"

static uint64_t address_of(const struct dagpatch_recording *recording,
			   const struct recapture *recapture, uint32_t index)
{
	return slot_address(recording, recording->wanted, recapture->slots[index]) +
	       recapture->offsets[index];
}

static int make_key(struct dagpatch_recording *recording, const struct recapture *recapture,
		    struct cache_key **ret_key)
{
	uint64_t *addresses = malloc((recapture->slot_count + 1) * sizeof(*addresses));
	struct cache_key *key = NULL;

	for (uint32_t i = 0; addresses && i < recapture->slot_count; i++)
		addresses[i] = address_of(recording, recapture, i);
	if (addresses)
		key = cache_key_create(recapture->name, addresses, recapture->slot_count);
	free(addresses);
	if (!key)
		return recording_fail(recording, -ENOMEM, "no memory for a cache's key");
	*ret_key = key;
	return 0;
}

static bool is_needed(const struct dagpatch_recording *recording, const struct recapture *recapture)
{
	if (!recapture->current)
		return true;
	for (uint32_t i = 0; i < recapture->slot_count; i++)
		if (recording->is_changed[recapture->slots[i]] &&
		    !recording->slots[recapture->slots[i]].flags)
			return true;
	return false;
}

/* -ENOTSUP: a node cannot be read. */
static int read_nodes(struct dagpatch_recording *content, struct driver_graph *graph)
{
	struct captures captures = {.graphs = {graph}, .count = 1};

	return capture_append(content, &captures, &(struct capture_place){DAGPATCH_NONE, 1});
}

/* If a node cannot be read, or the graph is nested too deeply, the graph stays a child. */
static int read_content(struct dagpatch_recording *recording, struct captured_graph *made)
{
	struct dagpatch_recording *content;
	int err;

	if (!(recording->device->capabilities & PATCH_FLATTENS))
		return 0;
	/* A recording whose graph takes new nodes in place builds nothing for a long time. */
	reap(recording->context);
	content = captured_content_create(recording->context);
	if (!content)
		return recording_fail(recording, -ENOMEM, "no memory for a capture");
	err = read_nodes(content, made->graph);
	if (err == 0) {
		content->source = made->graph; /* MADE stays the owner */
		made->content = content;
		return 0;
	}
	if (err == -ENOTSUP || err == -ELOOP) {
		err = 0;
	} else {
		recording_fail(recording, err, "%s", content->error.message);
		recording->error.driver_code = content->error.driver_code;
	}
	captured_content_destroy(content);
	return err;
}

static int capture_next(struct dagpatch_recording *recording, struct recapture *recapture)
{
	void **addresses = malloc((recapture->slot_count + 1) * sizeof(void *));
	struct captured_graph *made = calloc(1, sizeof(*made));
	int err = 0;

	if (!addresses || !made)
		err = recording_fail(recording, -ENOMEM, "no memory for a capture");
	for (uint32_t i = 0; err == 0 && i < recapture->slot_count; i++)
		addresses[i] = (void *)(uintptr_t)address_of(recording, recapture, i);
	if (err == 0)
		err = capture_graph(recording, recapture->record, recapture->user, addresses,
				    &made->graph);
	free(addresses);
	if (err < 0) {
		free(made);
		return err;
	}
	made->references = 1;
	made->device = recording->device;
	made->tag = recapture->cache && recapture->cache == recording->voter
			    ? cache_tag(recapture->cache)
			    : 0;
	err = attributes_find(recording, made->graph, &made->has_priorities);
	if (err == 0)
		err = read_content(recording, made);
	if (err < 0) {
		captured_graph_release(made);
		return err;
	}
	captured_graph_release(recapture->next);
	recapture->next = made;
	return 0;
}

/* The caller puts NEXT into the cache when the whole step has succeeded. */
static int capture_for_cache(struct dagpatch_recording *recording, struct recapture *recapture)
{
	struct cache_key *key;
	int err = make_key(recording, recapture, &key);

	if (err < 0)
		return err;
	cache_count(recapture->cache, false);
	err = capture_next(recording, recapture);
	if (err < 0) {
		free(key);
		return err;
	}
	free(recapture->next_key);
	recapture->next_key = key;
	return 0;
}

static int find_next(struct dagpatch_recording *recording, struct recapture *recapture)
{
	struct cache_key *key;
	int err = make_key(recording, recapture, &key);

	if (err < 0)
		return err;
	recapture->next = cache_find(recapture->cache, key);
	free(key);
	if (recapture->next)
		recording->has_priorities |= recapture->next->has_priorities;
	return 0;
}

/* ---- votes ---- */

static bool has_changes(const struct dagpatch_recording *recording)
{
	return recording->changed_count > 0 || recording->revisions.pending_count > 0 ||
	       !current_exec(recording);
}

/* Returns whether the other ranks wait for what this rank says. */
static bool is_asked(const struct dagpatch_recording *recording)
{
	return recording->voter && (recording->votes_always || has_changes(recording));
}

/* What this rank would launch: the word for the vote, and a tag that is computed from the captures
 * that it would use. */
static enum vote_word choose_word(const struct dagpatch_recording *recording, bool is_due,
				  uint64_t *ret_tag)
{
	enum vote_word word = is_due || has_changes(recording) ? VOTE_HAS : VOTE_IDLE;
	uint64_t tag = 0;

	for (uint32_t i = 0; i < recording->recapture_count; i++) {
		const struct recapture *recapture = &recording->recaptures[i];
		const struct captured_graph *graph =
			is_needed(recording, recapture) ? recapture->next : recapture->current;

		if (recapture->cache != recording->voter)
			continue;
		if (!graph)
			word = VOTE_MISSES;
		else
			tag = (tag ^ graph->tag) * 0x100000001b3u;
	}
	*ret_tag = tag;
	return word;
}

/* The first vote. ERR: the result so far; a failure is told to the other ranks. *RET_ALL: all ranks
 * must capture everything. */
static int vote_before(struct dagpatch_recording *recording, int err, bool is_due, bool *ret_all)
{
	struct ballot ballot = {DAGPATCH_VOTE_BEFORE, VOTE_FAILED, 0, recording->is_inside};
	struct vote_answer answer;
	int voted;

	if (err == 0)
		ballot.word = choose_word(recording, is_due, &ballot.tag);
	voted = cache_vote(recording->voter, &ballot, &answer);
	if (err < 0)
		return err;
	if (voted < 0)
		return recording_fail(recording, voted, "the ranks' vote before the captures: %s",
				      strerror(-voted));
	if (answer.least == VOTE_FAILED)
		return recording_fail(
			recording, -ECANCELED,
			"another rank failed before the captures: all keep the graphs they have");
	/* A library may have put addresses of peers into the captured graphs. So graphs of
	 * different ranks only fit together if they were captured together, which the tags show;
	 * equal addresses on this rank are not enough. */
	*ret_all =
		answer.least == VOTE_MISSES || (answer.least == VOTE_HAS && !answer.is_tag_equal);
	recording->owes_vote = answer.least != VOTE_IDLE;
	return 0;
}

int recapture_vote_again(struct dagpatch_recording *recording, int err)
{
	struct ballot ballot = {DAGPATCH_VOTE_AFTER, err < 0 ? VOTE_FAILED : VOTE_READY, 0,
				recording->is_inside};
	struct vote_answer answer;
	int voted;

	recording->owes_vote = false;
	voted = cache_vote(recording->voter, &ballot, &answer);
	if (err < 0)
		return err;
	if (voted < 0)
		return recording_fail(recording, voted,
				      "the ranks' vote after the captures: %s; other ranks may "
				      "have launched",
				      strerror(-voted));
	if (answer.least == VOTE_FAILED)
		return recording_fail(
			recording, -ECANCELED,
			"another rank failed after the captures: all keep the graphs they have");
	return 0;
}

int recapture_refuse(struct dagpatch_recording *recording, int err)
{
	bool all;

	return is_asked(recording) ? vote_before(recording, err, false, &all) : err;
}

/* ---- finding and capturing ---- */

static int find_all(struct dagpatch_recording *recording)
{
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < recording->recapture_count; i++) {
		struct recapture *recapture = &recording->recaptures[i];

		if (recapture->cache && is_needed(recording, recapture))
			err = find_next(recording, recapture);
	}
	return err;
}

/* ALL: also recaptures the work for the voting cache that this rank has, because another rank
 * lacks it. The order is the same on all ranks. */
static int capture_missing(struct dagpatch_recording *recording, bool all)
{
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < recording->recapture_count; i++) {
		struct recapture *recapture = &recording->recaptures[i];
		bool is_missing = is_needed(recording, recapture) && !recapture->next;

		if (recapture->cache && recapture->cache == recording->voter)
			is_missing |= all;
		if (is_missing)
			err = recapture->cache ? capture_for_cache(recording, recapture)
					       : capture_next(recording, recapture);
		else if (recapture->next)
			cache_count(recapture->cache, true);
	}
	return err;
}

int recapture_prepare(struct dagpatch_recording *recording, bool is_due)
{
	bool all = false;
	int err = find_all(recording);

	if (is_asked(recording))
		err = vote_before(recording, err, is_due, &all);
	if (err == 0)
		err = capture_missing(recording, all);
	if (err < 0)
		recapture_drop(recording);
	return err;
}

/* ---- the end of a step ---- */

void recapture_cache(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->recapture_count; i++) {
		struct recapture *recapture = &recording->recaptures[i];

		if (recapture->next_key)
			cache_put(recapture->cache, recapture->next_key, recapture->next);
		recapture->next_key = NULL;
	}
}

void recapture_commit(struct dagpatch_recording *recording)
{
	recapture_cache(recording);
	for (uint32_t i = 0; i < recording->recapture_count; i++) {
		struct recapture *recapture = &recording->recaptures[i];

		if (!recapture->next)
			continue;
		captured_graph_release(recapture->current);
		recapture->current = recapture->next;
		recapture->next = NULL;
	}
}

void recapture_drop(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->recapture_count; i++) {
		captured_graph_release(recording->recaptures[i].next);
		free(recording->recaptures[i].next_key);
		recording->recaptures[i].next = NULL;
		recording->recaptures[i].next_key = NULL;
	}
}

/* ---- in a flattened graph ---- */

static bool is_same_node(const struct node *a, const struct node *b)
{
	return a->kind == b->kind && a->parent == b->parent && a->image == b->image &&
	       a->detail == b->detail;
}

/* Returns whether the parameters of one are all that the nodes of the other need. */
static bool is_same_shape(const struct dagpatch_recording *a, const struct dagpatch_recording *b)
{
	if (a->node_count != b->node_count || a->image_words != b->image_words ||
	    a->after_count != b->after_count)
		return false;
	if (a->after_count > 0 &&
	    memcmp(a->after, b->after, a->after_count * sizeof(*a->after)) != 0)
		return false;
	for (uint32_t i = 0; i < a->node_count; i++) {
		const struct patch_kernel *kernel, *other;

		if (a->after_end[i] != b->after_end[i] || !is_same_node(&a->nodes[i], &b->nodes[i]))
			return false;
		if (a->nodes[i].kind != PATCH_KERNEL)
			continue;
		kernel = node_image(a, i);
		other = node_image(b, i);
		if (kernel->function != other->function || kernel->form != other->form ||
		    kernel->argument_bytes != other->argument_bytes)
			return false;
	}
	return true;
}

static bool can_set_flat(const struct recapture *recapture)
{
	return recapture->next && recapture->handles && recapture->next->content &&
	       is_same_shape(recapture->current->content, recapture->next->content);
}

int recapture_set_flat(struct dagpatch_recording *recording, const struct recapture *recapture,
		       bool takes_next, uint32_t *ret_set)
{
	const struct dagpatch_recording *now, *then, *to;
	int err = 0;

	*ret_set = 0;
	/* If NEXT could not be set, there is nothing to put back. */
	if (!can_set_flat(recapture))
		return takes_next ? -ENOTSUP : 0;
	now = recapture->current->content;
	then = recapture->next->content;
	to = takes_next ? then : now;
	for (uint32_t i = 0; err == 0 && i < to->node_count; i++) {
		struct patch_params params;

		if (to->nodes[i].image == DAGPATCH_NONE ||
		    memcmp(node_image(now, i), node_image(then, i), image_size(to, i)) == 0)
			continue;
		params = node_params(to, i);
		++*ret_set;
		err = recording->device->driver->exec_set(
			recording->device, current_exec(recording), recapture->handles[i], &params);
	}
	return err;
}
