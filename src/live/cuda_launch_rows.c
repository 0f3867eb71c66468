/* Rows of executable graphs, and what they add up to: see cuda_launch_rows.h. */
#include "live/cuda_launch_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/table.h"

#define NONE UINT32_MAX

static uint64_t hash_of(uint64_t id)
{
	return hash_mix(id, 0);
}

struct launched_exec *launched_exec_find(const struct cuda_launches *launches, uint64_t id)
{
	struct hash_probe probe;

	if (!launches->by_id.slot_count)
		return NULL;
	probe = hash_map_probe(&launches->by_id, hash_of(id));
	while (hash_map_next(&launches->by_id, &probe)) {
		if (launches->rows[probe.row].id == id)
			return &launches->rows[probe.row];
	}
	return NULL;
}

static void release_nodes(struct launched_exec *exec)
{
	numbers_release(&exec->nodes);
	free(exec->node_rows);
	exec->node_rows = NULL;
	exec->node_rows_count = 0;
}

void cuda_launches_release(struct cuda_launches *launches)
{
	for (uint32_t i = 0; i < launches->rows_count; i++)
		release_nodes(&launches->rows[i]);
	free(launches->rows);
	free(launches->free_rows);
	free(launches->waits);
	free(launches->last_calls);
	hash_map_release(&launches->by_id);
	numbers_release(&launches->wait_keys);
	numbers_release(&launches->threads);
	*launches = (struct cuda_launches){0};
}

/* ---- what has ended ---- */

static int64_t waited_ns(const struct cuda_launches *launches, uint64_t context, uint64_t stream)
{
	uint32_t number = numbers_find(&launches->wait_keys, context, stream);

	return number == NUMBERS_NONE ? 0 : launches->waits[number].begin_ns;
}

int launched_wait_note(struct cuda_launches *launches, uint64_t context, uint64_t stream,
		       int64_t begin_ns)
{
	void *added;
	int64_t number;

	if (launches->waits_count == CUDA_LAUNCHES_WAITS_MOST &&
	    numbers_find(&launches->wait_keys, context, stream) == NUMBERS_NONE)
		return 0;
	number = numbers_row(&launches->wait_keys, context, stream, (void **)&launches->waits,
			     &launches->waits_count, sizeof(*launches->waits), &added);
	if (number < 0)
		return -ENOMEM;
	if (launches->waits[number].begin_ns < begin_ns)
		launches->waits[number].begin_ns = begin_ns;
	return 0;
}

/* A wait for the stream of the newest launch shows nothing of one beside it. */
static bool is_waited_for(const struct cuda_launches *launches, const struct launched_exec *exec)
{
	int64_t waited = waited_ns(launches, exec->last_context, LAUNCHED_IN_CONTEXT);

	if (waited <= exec->last_end_ns && exec->last_count > exec->unordered)
		waited = waited_ns(launches, exec->last_context, exec->last_stream);
	return waited > exec->last_end_ns;
}

uint64_t launched_exec_ended(const struct cuda_launches *launches, const struct launched_exec *exec)
{
	if (exec->last_count > exec->ended && is_waited_for(launches, exec))
		return exec->last_count;
	return exec->ended < exec->unordered ? 0 : exec->ended;
}

/* ---- sums ---- */

static void add_uncompared(const struct launched_exec *exec, struct deliveries *sums)
{
	sums->uncompared_launches += exec->launches;
	for (int kind = 0; kind < DELIVERY_KIND_COUNT; kind++)
		sums->uncompared_activities += exec->came[kind];
}

/* Bodies of conditional nodes may run in some launches and not in others, and their activities may
 * name the launch: beside such nodes only those that are known to be kernels are certain. In a
 * graph whose making was not recorded, kernels of bodies look like its own: those that are known
 * count only if nothing came of bodies. A node may be known to be a kernel because it ran as one,
 * and be a memset that came as one in another launch: only the sum of all kinds is at least the
 * number of kernels. */
static uint64_t nodes_of(const struct launched_exec *exec, enum delivery_kind kind)
{
	uint64_t others = exec->most[DELIVERY_COPIES] + exec->most[DELIVERY_MEMSETS];
	uint64_t known = exec->unnamed ? 0 : exec->kernels;

	if (exec->has_bodies)
		return kind == DELIVERY_KERNELS ? exec->kernels : 0;
	if (kind == DELIVERY_KERNELS && known > exec->most[kind] + others)
		return known - others;
	return exec->most[kind];
}

uint64_t launched_exec_nodes(const struct launched_exec *exec)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < DELIVERY_KIND_COUNT; kind++)
		sum += nodes_of(exec, (enum delivery_kind)kind);
	return sum;
}

static uint64_t beyond(uint64_t count, uint64_t limit)
{
	return count > limit ? count - limit : 0;
}

/* Sets what COUNT launches of EXEC must have caused. CUDA may run a memset as a kernel in some
 * launches and not in others, so nodes that came as one kind beyond its number stand for those that
 * did not come as another; copies only if they are compared. */
static void share_launched(const struct launched_exec *exec, uint64_t count,
			   uint64_t ret_launched[DELIVERY_KIND_COUNT])
{
	uint64_t *launched = ret_launched;

	for (int kind = 0; kind < DELIVERY_KIND_COUNT; kind++)
		launched[kind] = count * nodes_of(exec, (enum delivery_kind)kind);
	for (int from = 0; from < DELIVERY_KIND_COUNT; from++) {
		for (int to = 0; to < DELIVERY_KIND_COUNT; to++) {
			uint64_t lack = beyond(launched[from], exec->came[from]);
			uint64_t more = beyond(exec->came[to], launched[to]);

			if (exec->has_bodies && to == DELIVERY_COPIES)
				continue;
			launched[from] -= lack < more ? lack : more;
			launched[to] += lack < more ? lack : more;
		}
	}
}

static void add_kind(struct deliveries *sums, enum delivery_kind kind, uint64_t launched,
		     uint64_t came)
{
	uint64_t delivered = came < launched ? came : launched;

	sums->launched[kind] += launched;
	sums->delivered[kind] += delivered;
	sums->absent += launched - delivered;
	sums->uncompared_activities += came - delivered;
}

/* Adds EXEC, of which launches with a number from ENDED on need not have ended. */
static void add_exec(const struct cuda_launches *launches, const struct launched_exec *exec,
		     uint64_t ended, struct deliveries *sums)
{
	uint64_t count = exec->launches - exec->failed, nodes = launched_exec_nodes(exec);
	uint64_t before = sums->absent, unended, launched[DELIVERY_KIND_COUNT];

	if (exec->is_uncompared || launches->is_any_switched || !nodes ||
	    exec->failed > exec->launches) {
		add_uncompared(exec, sums);
		return;
	}
	sums->graph_launches += count;
	share_launched(exec, count, launched);
	for (int kind = 0; kind < DELIVERY_KIND_COUNT; kind++)
		add_kind(sums, (enum delivery_kind)kind, launched[kind], exec->came[kind]);
	unended = (exec->launches - ended) * nodes;
	if (ended == exec->ended && exec->ended_came <= unended)
		unended -= exec->ended_came;
	unended += exec->open * nodes + exec->unnamed;
	sums->unended += unended < sums->absent - before ? unended : sums->absent - before;
}

/* A launch of an eager kernel has no stream in its record: only a wait for the context shows that
 * it has ended, if no other one is known. */
static bool has_eager_ended(const struct cuda_launches *launches)
{
	return !launches->contexts[LAUNCHED_OTHER_CONTEXT] &&
	       waited_ns(launches, launches->contexts[0], LAUNCHED_IN_CONTEXT) >
		       launches->eager_end_ns;
}

static void add_eager(const struct cuda_launches *launches, uint64_t count, struct deliveries *sums)
{
	uint64_t before = sums->absent;

	sums->kernel_launches = count;
	add_kind(sums, DELIVERY_KERNELS, count, launches->eager);
	if (!has_eager_ended(launches))
		sums->unended += sums->absent - before;
}

/* Adds to what need not be missing: the execs of failed launches whose records were lost are not
 * known, so as many may have caused nothing; and an activity that came without its call or graph
 * may be any of those that are absent. */
static void add_doubts(const struct cuda_launches *launches, uint64_t failed,
		       struct deliveries *sums)
{
	uint64_t unknown = failed > launches->failed ? failed - launches->failed : 0;
	uint64_t more = unknown * launches->nodes_most + launches->unnamed;
	uint64_t left = sums->absent - sums->unended;

	sums->unended += more < left ? more : left;
}

void cuda_launches_count(const struct cuda_launches *launches,
			 const struct cuda_launch_witnesses *witnesses, struct deliveries *ret)
{
	struct deliveries sums = launches->sums;

	for (uint32_t i = 0; i < launches->rows_count; i++) {
		const struct launched_exec *exec = &launches->rows[i];

		if (exec->is_in_use)
			add_exec(launches, exec, launched_exec_ended(launches, exec), &sums);
	}
	add_eager(launches, witnesses->kernel_launches, &sums);
	if (witnesses->graph_launches > launches->launches)
		sums.uncompared_launches += witnesses->graph_launches - launches->launches;
	add_doubts(launches, witnesses->launches_failed, &sums);
	/* If nothing came, CUPTI may give its buffers to another tool. */
	if (launches->is_crowded || !launches->activities)
		sums.unended = sums.absent;
	*ret = sums;
}

/* ---- executable graphs that are no more ---- */

static struct launched_gone *gone_at(struct cuda_launches *launches, uint64_t number)
{
	return &launches->gone[number % CUDA_LAUNCHES_MOST];
}

/* Adds the exec of ROW to the sums, and frees the row. */
static int fold(struct cuda_launches *launches, uint32_t row)
{
	struct launched_exec *exec = &launches->rows[row];

	if (table_reserve((void **)&launches->free_rows, &launches->free_room,
			  launches->free_count + 1, sizeof(*launches->free_rows)) < 0)
		return -ENOMEM;
	add_exec(launches, exec, launched_exec_ended(launches, exec), &launches->sums);
	hash_map_remove(&launches->by_id, hash_of(exec->id), row);
	launches->nodes_count -= exec->node_rows_count;
	release_nodes(exec);
	exec->is_in_use = false;
	launches->free_rows[launches->free_count++] = row;
	launches->has_folded = true;
	return 0;
}

/* Takes the exec that was destroyed first out of the ring. */
static struct launched_gone take_gone(struct cuda_launches *launches)
{
	struct launched_gone gone = *gone_at(launches, launches->gone_first++);

	if (launches->gone_passed < launches->gone_first)
		launches->gone_passed = launches->gone_first;
	return gone;
}

static bool lacks_activities(const struct cuda_launches *launches, const struct launched_exec *exec)
{
	struct deliveries alone = {0};

	add_exec(launches, exec, exec->ended, &alone);
	return alone.absent;
}

/* Adds the exec that was destroyed first to the sums. If activities of it did not come, they may
 * lie in the buffer of a thread that fills it slowly: the exec waits once more. */
static int fold_or_hold(struct cuda_launches *launches)
{
	struct launched_gone gone = take_gone(launches);

	if (!lacks_activities(launches, &launches->rows[gone.row]))
		return fold(launches, gone.row);
	*gone_at(launches, launches->gone_end++) = gone;
	return 0;
}

int launched_pass(struct cuda_launches *launches, uint64_t cid)
{
	int err = 0;

	launches->activities++;
	if (cid > launches->last_cid)
		launches->last_cid = cid;
	while (launches->gone_passed < launches->gone_end &&
	       gone_at(launches, launches->gone_passed)->cid < launches->last_cid)
		gone_at(launches, launches->gone_passed++)->activities = launches->activities;
	while (err == 0 && launches->gone_first < launches->gone_passed &&
	       launches->activities - gone_at(launches, launches->gone_first)->activities >=
		       CUDA_LAUNCHES_HELD)
		err = fold_or_hold(launches);
	return err;
}

/* Rows that are in use are not twice in the ring, so it does not overflow. */
void launched_exec_gone(struct cuda_launches *launches, struct launched_exec *exec, uint64_t cid)
{
	if (exec->is_gone)
		return;
	exec->is_gone = true;
	*gone_at(launches, launches->gone_end++) =
		(struct launched_gone){.row = (uint32_t)(exec - launches->rows), .cid = cid};
}

/* ---- new rows ---- */

static uint32_t take_row(struct cuda_launches *launches)
{
	if (launches->free_count)
		return launches->free_rows[--launches->free_count];
	if (!table_add((void **)&launches->rows, &launches->rows_count, sizeof(*launches->rows)))
		return NONE;
	return launches->rows_count - 1;
}

/* Adds an exec to the sums early: records of it may yet come. */
static int make_room(struct cuda_launches *launches)
{
	if (launches->gone_first == launches->gone_end)
		return 0;
	launches->is_crowded = true;
	return fold(launches, take_gone(launches).row);
}

/* Frees rows that late records of execs made which had been added to the sums, and those of other
 * execs that only activities named. Reads all rows, but only once in CUDA_LAUNCHES_HELD
 * activities. */
static int free_unlaunched(struct cuda_launches *launches)
{
	int err = 0;

	if (launches->activities - launches->freed_at < CUDA_LAUNCHES_HELD)
		return 0;
	launches->freed_at = launches->activities;
	for (uint32_t i = 0; i < launches->rows_count && err == 0; i++) {
		const struct launched_exec *exec = &launches->rows[i];

		if (exec->is_in_use && !exec->launches && !exec->is_gone && !exec->is_uncompared &&
		    launches->activities - exec->named_at >= CUDA_LAUNCHES_HELD)
			err = fold(launches, i);
	}
	return err;
}

int launched_exec_get(struct cuda_launches *launches, uint64_t id, struct launched_exec **ret_exec)
{
	struct hash_probe probe;
	uint32_t row;

	*ret_exec = launched_exec_find(launches, id);
	if (*ret_exec) {
		(*ret_exec)->named_at = launches->activities;
		return 0;
	}
	if (launches->by_id.count == CUDA_LAUNCHES_MOST && free_unlaunched(launches) < 0)
		return -ENOMEM;
	if (launches->by_id.count == CUDA_LAUNCHES_MOST && make_room(launches) < 0)
		return -ENOMEM;
	if (launches->by_id.count == CUDA_LAUNCHES_MOST)
		return 0;
	if (hash_map_reserve(&launches->by_id) < 0)
		return -ENOMEM;
	row = take_row(launches);
	if (row == NONE)
		return -ENOMEM;
	probe = hash_map_probe(&launches->by_id, hash_of(id));
	while (hash_map_next(&launches->by_id, &probe))
		;
	hash_map_put(&launches->by_id, &probe, row);
	launches->rows[row] = (struct launched_exec){
		.id = id, .named_at = launches->activities, .is_in_use = true};
	*ret_exec = &launches->rows[row];
	return 0;
}
