/* Purges the steps of destroyed graphs; see cuda_graph_lives.h. */
#include "capture/cuda/cuda_graph_lives.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/hash_map.h"
#include "base/table.h"
#include "record/cuda_clones.h"

#define NONE UINT32_MAX

/* A graph from its creation to its end. Its id may be used again, by another life. */
struct life {
	uint32_t id;
	uint32_t original; /* of which this one is a clone */
	uint32_t holder;   /* that has this one as a child or body */
	bool is_gone, is_needed;
};

struct exec {
	uint32_t id;
	uint32_t source; /* the life it was made of; NONE: nobody saw it made */
	uint32_t clone;	 /* the life that it runs */
	bool is_gone;
};

struct lives {
	struct life *rows;
	uint32_t count;
	struct hash_map by_id; /* lives; of an id that was used again, the newest is found last */
	struct exec *execs;
	uint32_t exec_count;
	struct hash_map execs_by_id; /* the newest of each id */
	uint32_t *of_step;	     /* the life of each step, or the exec of a step of an exec */
	struct cuda_clones open_clones;
};

static uint64_t hash_of(uint32_t id)
{
	return hash_mix(0, id);
}

/* Returns the newest life of the graph ID; NONE: it has none. */
static uint32_t find_life(const struct lives *lives, uint32_t id)
{
	uint32_t found = NONE;
	struct hash_probe probe;

	if (!lives->count)
		return NONE;
	probe = hash_map_probe(&lives->by_id, hash_of(id));
	while (hash_map_next(&lives->by_id, &probe)) {
		if (lives->rows[probe.row].id == id)
			found = probe.row;
	}
	return found;
}

/* Puts ROW in the place of OLD, the row of the same id; NONE: there is none. */
static bool put_row(struct hash_map *map, uint32_t id, uint32_t old, uint32_t row)
{
	struct hash_probe probe;

	if (old != NONE)
		hash_map_remove(map, hash_of(id), old);
	if (hash_map_reserve(map) < 0)
		return false;
	probe = hash_map_probe(map, hash_of(id));
	while (hash_map_next(map, &probe))
		;
	hash_map_put(map, &probe, row);
	return true;
}

static uint32_t add_life(struct lives *lives, uint32_t id)
{
	uint32_t old = find_life(lives, id);
	struct life *life = table_add((void **)&lives->rows, &lives->count, sizeof(*life));

	if (!life || !put_row(&lives->by_id, id, old, lives->count - 1))
		return NONE;
	*life = (struct life){.id = id, .original = NONE, .holder = NONE};
	return lives->count - 1;
}

/* Returns the newest exec ID; NONE: it has none. */
static uint32_t find_exec(const struct lives *lives, uint32_t id)
{
	struct hash_probe probe;

	if (!lives->exec_count)
		return NONE;
	probe = hash_map_probe(&lives->execs_by_id, hash_of(id));
	while (hash_map_next(&lives->execs_by_id, &probe)) {
		if (lives->execs[probe.row].id == id)
			return probe.row;
	}
	return NONE;
}

static uint32_t add_exec(struct lives *lives, uint32_t id, uint32_t source, uint32_t clone)
{
	uint32_t old = find_exec(lives, id);
	struct exec *exec = table_add((void **)&lives->execs, &lives->exec_count, sizeof(*exec));

	if (!exec || !put_row(&lives->execs_by_id, id, old, lives->exec_count - 1))
		return NONE;
	*exec = (struct exec){.id = id, .source = source, .clone = clone};
	return lives->exec_count - 1;
}

/* Returns the life that STEP belongs to, a new one if it begins one. */
static uint32_t life_of(struct lives *lives, const struct record_cuda_graph *step)
{
	uint32_t life = find_life(lives, step->graph);
	bool is_begin = step->header.tag <= RECORD_CUDA_GRAPH_CLONED;

	if (life == NONE || (is_begin && lives->rows[life].is_gone))
		return add_life(lives, step->graph);
	return life;
}

/* The driver clones a graph into the one that the new exec runs, within the same call. */
static uint32_t make_exec(struct lives *lives, const struct record_cuda_graph *step)
{
	uint32_t source = life_of(lives, step), graph;

	for (uint32_t i = 0; source != NONE; i++) {
		uint32_t clone = NONE;

		graph = cuda_clones_find(&lives->open_clones, step->cid, i);
		if (graph)
			clone = find_life(lives, graph);
		if (!graph || (clone != NONE && lives->rows[clone].original == source))
			return add_exec(lives, step->exec, source, clone);
	}
	return NONE;
}

static bool is_of_exec(const struct record_cuda_graph *step)
{
	return step->header.tag == RECORD_CUDA_EXEC_CREATED ||
	       step->header.tag == RECORD_CUDA_EXEC_GONE ||
	       step->header.tag == RECORD_CUDA_NODE_SWITCHED;
}

/* What is known of an exec that nobody saw made is that a node of it was switched. */
static bool take_exec_step(struct lives *lives, const struct record_cuda_graph *step, uint32_t *ret)
{
	*ret = step->header.tag == RECORD_CUDA_EXEC_CREATED ? make_exec(lives, step)
							    : find_exec(lives, step->exec);
	if (step->header.tag == RECORD_CUDA_EXEC_GONE) {
		if (*ret != NONE)
			lives->execs[*ret].is_gone = true;
		return true;
	}
	if (*ret == NONE && step->header.tag == RECORD_CUDA_NODE_SWITCHED)
		*ret = add_exec(lives, step->exec, NONE, NONE);
	return *ret != NONE;
}

/* A graph that becomes an exec is reported as a new one, and only its nodes as clones. CUPTI's ids
 * of nodes have the graph's in their upper half (H200, CUDA 13.0). */
static void take_clone(struct lives *lives, uint32_t life, const struct record_cuda_graph *step)
{
	uint32_t original = find_life(lives, step->other_graph);

	if (original == NONE)
		original = find_life(lives, (uint32_t)(step->other_node >> 32));
	if (lives->rows[life].original == NONE && original != life)
		lives->rows[life].original = original;
}

static void hold(struct lives *lives, uint32_t life, uint32_t held)
{
	uint32_t other = held ? find_life(lives, held) : NONE;

	if (other != NONE)
		lives->rows[other].holder = life;
}

static bool take_step(struct lives *lives, const struct record_cuda_graph *step, uint32_t *ret)
{
	uint32_t life, held = cuda_clones_take(&lives->open_clones, step);

	if (is_of_exec(step))
		return take_exec_step(lives, step, ret);
	life = *ret = life_of(lives, step);
	if (life == NONE)
		return false;
	switch (step->header.tag) {
	case RECORD_CUDA_GRAPH_GONE:
		lives->rows[life].is_gone = true;
		break;
	case RECORD_CUDA_GRAPH_CLONED:
	case RECORD_CUDA_NODE_CLONED:
		take_clone(lives, life, step);
		break;
	case RECORD_CUDA_NODE_CREATED:
		hold(lives, life, held);
		break;
	case RECORD_CUDA_NODE_HOLDS:
		hold(lives, life, step->other_graph);
		break;
	default:
		break;
	}
	return true;
}

/* What is needed: graphs that exist, those of which execs were made that exist, the originals of
 * needed ones, and what needed ones hold. */
static void find_needed(struct lives *lives)
{
	bool has_changed = true;

	for (uint32_t i = 0; i < lives->exec_count; i++) {
		if (lives->execs[i].is_gone && lives->execs[i].clone != NONE)
			lives->rows[lives->execs[i].clone].is_gone = true;
	}
	for (uint32_t i = 0; i < lives->count; i++)
		lives->rows[i].is_needed = !lives->rows[i].is_gone;
	for (uint32_t i = 0; i < lives->exec_count; i++) {
		const struct exec *exec = &lives->execs[i];

		if (exec->is_gone)
			continue;
		if (exec->source != NONE)
			lives->rows[exec->source].is_needed = true;
		if (exec->clone != NONE)
			lives->rows[exec->clone].is_needed = true;
	}
	while (has_changed) {
		has_changed = false;
		for (uint32_t i = lives->count; i-- > 0;) {
			struct life *life = &lives->rows[i];
			uint32_t original = life->original;

			if (!life->is_needed && life->holder != NONE &&
			    lives->rows[life->holder].is_needed)
				life->is_needed = has_changed = true;
			if (life->is_needed && original != NONE && !lives->rows[original].is_needed)
				lives->rows[original].is_needed = has_changed = true;
		}
	}
}

static bool is_needed(const struct lives *lives, const struct record_cuda_graph *step, uint32_t of)
{
	if (is_of_exec(step))
		return of != NONE && !lives->execs[of].is_gone;
	return lives->rows[of].is_needed;
}

static uint32_t remove_rest(struct lives *lives, struct record_cuda_graph *steps, uint32_t count)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (is_needed(lives, &steps[i], lives->of_step[i]))
			steps[left++] = steps[i];
	}
	return left;
}

uint32_t graph_lives_purge(struct record_cuda_graph *steps, uint32_t count)
{
	struct lives lives = {.of_step = table_alloc(count, sizeof(uint32_t))};
	bool is_done = lives.of_step != NULL;

	for (uint32_t i = 0; i < count && is_done; i++)
		is_done = take_step(&lives, &steps[i], &lives.of_step[i]);
	if (is_done) {
		find_needed(&lives);
		count = remove_rest(&lives, steps, count);
	}
	free(lives.rows);
	free(lives.execs);
	free(lives.of_step);
	hash_map_release(&lives.by_id);
	hash_map_release(&lives.execs_by_id);
	return count;
}
