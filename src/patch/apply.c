/* Brings the graph to the wanted addresses and parameters: first everything that can fail without
 * a change, then the driver's calls. If one of them fails, puts everything back. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "patch/apply.h"
#include "patch/build.h"
#include "patch/captured_graph.h"
#include "patch/context.h"
#include "patch/describe.h"
#include "patch/errors.h"
#include "patch/images.h"
#include "patch/node.h"
#include "patch/ownership.h"
#include "patch/recapture.h"
#include "patch/recording.h"
#include "patch/revise.h"
#include "patch/slot_add.h"
#include "patch/slots.h"
#include "patch/strategy.h"

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Reading the clock twice costs some 40 ns, setting a node 200 or more. For changes of fewer than
 * TIMED_NODES nodes, one of TIMED_APPLIES applies is timed. */
enum { TIMED_NODES = 64, TIMED_APPLIES = 16 };

/* One apply, for statistics and the observer. */
struct step {
	enum dagpatch_strategy strategy;
	uint32_t weight; /* number of applies that this one stands for; 0: it is not timed */
	uint64_t begin_ns, ns;
	uint32_t done;	/* number of dirty nodes that may have new parameters */
	uint32_t table; /* number of slots to bind in the table */
	bool is_table_bound;
	struct replaced replaced; /* the graph that a new one has replaced */
};

static void count_use(struct dagpatch_recording *recording, enum dagpatch_strategy strategy,
		      uint64_t nodes, uint64_t ns)
{
	recording->stats.uses[strategy]++;
	recording->stats.nodes[strategy] += nodes;
	recording->stats.ns[strategy] += ns;
}

static void learn(struct dagpatch_recording *recording, const struct step *step)
{
	struct costs *costs = &recording->costs;
	double *cost = NULL;
	double ns = (double)step->ns;

	if (step->strategy == DAGPATCH_SET_PARAMS && recording->dirty_count >= 8) {
		cost = &costs->set_one;
		ns /= recording->dirty_count;
	} else if (step->strategy == DAGPATCH_UPDATE_GRAPH) {
		cost = &costs->update_all;
	}
	if (cost)
		*cost = *cost > 0 ? *cost * 0.75 + ns * 0.25 : ns;
}

/* The number of relocations that the changed slots have in the table: a node counts once for each
 * of its addresses. */
static uint32_t nodes_in_table(const struct dagpatch_recording *recording)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < recording->changed_count; i++) {
		uint32_t slot = recording->changed[i];

		if (!recording->slots[slot].flags)
			count += recording->first_relocation[slot + 1] - recording->host_end[slot];
	}
	return count;
}

/* The wanted addresses are the applied ones now. */
static void note_applied(struct dagpatch_recording *recording, const struct step *step)
{
	recording->last.number++;
	recording->last.strategy = step->table > 0 && recording->dirty_count == 0
					   ? DAGPATCH_DEVICE_TABLE
					   : step->strategy;
	recording->last.nodes = recording->dirty_count;
	recording->last.slots = recording->changed_count;
	for (uint32_t i = 0; i < recording->changed_count; i++) {
		uint32_t slot = recording->changed[i];

		recording->applied[slot] = recording->wanted[slot];
		recording->slots[slot].changed_in = recording->last.number;
		recording->is_changed[slot] = 0;
	}
	recording->changed_count = 0;
}

static void commit(struct dagpatch_recording *recording, struct step *step)
{
	uint32_t recaptures = 0;

	if (step->replaced.is_there) {
		build_accept(recording, &step->replaced);
		split_relocations(recording);
		step->table = 0; /* the new graph has the addresses */
	}
	for (uint32_t i = 0; i < recording->recapture_count; i++)
		recaptures += recording->recaptures[i].next != NULL;
	if (recaptures > 0)
		count_use(recording, DAGPATCH_CAPTURE, recaptures, 0);
	if (step->table > 0)
		count_use(recording, DAGPATCH_DEVICE_TABLE, step->table,
			  recording->dirty_count ? 0 : step->ns * step->weight);
	if (recording->dirty_count > 0 || step->strategy == DAGPATCH_INSTANTIATE)
		count_use(recording, step->strategy, recording->dirty_count,
			  step->ns * step->weight);
	if (recording->table_choice.is_open && step->strategy != DAGPATCH_INSTANTIATE)
		table_note(recording, recording->built.table ? nodes_in_table(recording)
							     : recording->dirty_count);
	if (step->weight > 0)
		learn(recording, step);
	if (recording->context->options.observe)
		apply_observe(recording, step->strategy, step->ns);
	note_applied(recording, step);
	if (recording->recapture_count > 0)
		recapture_commit(recording);
	if (recording->revisions.pending_count > 0)
		revisions_clear(recording);
	dirty_clear(recording);
}

static void unbind_table(struct dagpatch_recording *recording, const struct step *step)
{
	for (uint32_t i = 0; i < step->table; i++)
		recording->table_addresses[i] = recording->applied[recording->table_slots[i]];
	if (recording->device->driver->table_bind(recording->device, recording->built.table,
						  recording->table_slots,
						  recording->table_addresses, step->table) < 0)
		recording->state = DAGPATCH_LOST;
}

/* Restores the graph and the images, and puts the old parameters back into the executable graph. */
static void roll_back(struct dagpatch_recording *recording, struct step *step)
{
	struct dagpatch_error error = recording->error;

	build_undo(recording, &step->replaced);
	revisions_take_back(recording);
	images_write(recording, recording->applied);
	if (step->done > 0 || step->is_table_bound)
		recording->stats.rollbacks++;
	if (step->done > 0)
		strategy_put_back(recording, step->done);
	if (step->is_table_bound)
		unbind_table(recording, step);
	recapture_drop(recording);
	dirty_clear(recording);
	/* The error says why the apply failed, not what happened while putting back. */
	recording->error = error;
}

/* Recaptured work may bring the first kernel with a priority; then a new graph must be
 * instantiated for priorities. How the caller instantiated an adopted graph is the caller's
 * choice. */
static bool has_its_priorities(const struct dagpatch_recording *recording)
{
	return recording->foreign_exec ||
	       recording->has_priorities == recording->built.by_priorities;
}

/* If the driver refuses one strategy, tries the next one. Statistics and the observer get the
 * strategy that was used. */
static int apply_by(struct dagpatch_recording *recording, struct step *step)
{
	uint32_t refitted = recording->revisions.pending_count > 0 ? revisions_refitted(recording)
								   : DAGPATCH_NONE;
	int err = -ENOTSUP;

	if (refitted != DAGPATCH_NONE && recording->foreign_exec)
		return recording_fail_at(recording, err, refitted, DAGPATCH_NONE,
					 "what was set needs a new graph, and this one is the "
					 "caller's");
	if (refitted != DAGPATCH_NONE || !has_its_priorities(recording))
		step->strategy = DAGPATCH_INSTANTIATE;
	if (step->strategy == DAGPATCH_SET_PARAMS) {
		err = recording->dirty_count ? strategy_set_params(recording, &step->done) : 0;
		if (err == -ENOTSUP && strategy_can_update(recording))
			step->strategy = DAGPATCH_UPDATE_GRAPH;
	}
	if (step->strategy == DAGPATCH_UPDATE_GRAPH) {
		err = strategy_update_graph(recording, &step->done);
		recording->costs.cannot_update |= err == -ENOTSUP;
	}
	if (err != -ENOTSUP || recording->foreign_exec)
		return err;
	step->strategy = DAGPATCH_INSTANTIATE;
	images_write(recording, recording->wanted);
	err = build(recording, &step->replaced);
	table_settle(recording);
	return err;
}

static int bind_table(struct dagpatch_recording *recording, struct step *step)
{
	int err;

	if (step->table == 0 || step->replaced.is_there)
		return 0;
	err = recording->device->driver->table_bind(recording->device, recording->built.table,
						    recording->table_slots,
						    recording->table_addresses, step->table);
	step->is_table_bound = err >= 0;
	return err < 0 ? recording_fail(recording, err, "binding in the table of addresses") : 0;
}

/* Called last, when the step is complete except for the second vote. */
static int verify_step(struct dagpatch_recording *recording)
{
	int err =
		recording->context->options.verify ? verify_graph(recording, recording->wanted) : 0;

	return err < 0 ? err : 0;
}

static void start_clock(struct dagpatch_recording *recording, struct step *step)
{
	bool is_always = recording->dirty_count >= TIMED_NODES ||
			 step->strategy != DAGPATCH_SET_PARAMS ||
			 recording->context->options.observe;

	if (is_always)
		step->weight = 1;
	else if (recording->applies++ % TIMED_APPLIES == 0)
		step->weight = TIMED_APPLIES;
	if (step->weight > 0)
		step->begin_ns = now_ns();
}

static int change(struct dagpatch_recording *recording, struct step *step)
{
	int err;

	if (recording->revisions.pending_count > 0)
		revisions_put(recording);
	dirty_gather(recording);
	step->table = dirty_gather_table(recording);
	step->strategy = strategy_choose(recording);
	start_clock(recording, step);
	err = apply_by(recording, step);
	if (err == 0)
		err = bind_table(recording, step);
	if (step->weight > 0)
		step->ns = now_ns() - step->begin_ns;
	if (err == 0)
		err = verify_step(recording);
	err = recapture_agree(recording, err);
	if (err < 0)
		roll_back(recording, step);
	return err;
}

/* The next apply makes a new graph even if nothing has changed. */
static bool is_due(const struct dagpatch_recording *recording)
{
	return recording->table_choice.is_overdue || strategy_is_worn(recording);
}

static int apply_changes(struct dagpatch_recording *recording)
{
	uint64_t failures = recording->stats.failures;
	struct step step = {0};
	int err = recording->recapture_count > 0 ? recapture_prepare(recording, is_due(recording))
						 : 0;

	err = err < 0 ? recapture_agree(recording, err) : change(recording, &step);
	/* A call counts as one failure, however many strategies failed in it. */
	recording->stats.failures = failures + (err < 0);
	if (err == 0)
		commit(recording, &step);
	return err;
}

/* Recaptured work of a LOST graph is dropped. A graph that was evicted was whole: it can be built
 * again from what was captured. */
static void drop_current(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->recapture_count && !recording->is_evicted; i++) {
		captured_graph_release(recording->recaptures[i].current);
		recording->recaptures[i].current = NULL;
	}
}

static int make_first(struct dagpatch_recording *recording, struct replaced *replaced)
{
	int err;

	revisions_put(recording);
	images_write(recording, recording->wanted);
	err = build(recording, replaced);
	if (err == 0)
		err = verify_step(recording);
	err = recapture_agree(recording, err);
	if (err < 0) {
		struct dagpatch_error error = recording->error;

		build_undo(recording, replaced);
		revisions_take_back(recording);
		recapture_drop(recording);
		recording->error = error;
	}
	return err;
}

static int build_first(struct dagpatch_recording *recording)
{
	struct step step = {.strategy = DAGPATCH_INSTANTIATE, .begin_ns = now_ns()};
	int err;

	drop_current(recording);
	err = recapture_prepare(recording, false);
	err = err < 0 ? recapture_agree(recording, err) : make_first(recording, &step.replaced);
	if (err < 0)
		return err;
	build_accept(recording, &step.replaced);
	recording->last = (struct change){recording->last.number + 1, DAGPATCH_INSTANTIATE,
					  recording->node_count, recording->slot_count};
	split_relocations(recording);
	step.ns = now_ns() - step.begin_ns;
	count_use(recording, DAGPATCH_INSTANTIATE, recording->node_count, step.ns);
	if (recording->is_evicted && recording->context->options.observe)
		apply_observe(recording, step.strategy, step.ns);
	table_settle(recording); /* the graph was built with the current choice */
	recording->is_bound = true;
	recording->is_evicted = false;
	for (uint32_t i = 0; i < recording->slot_count; i++) {
		recording->applied[i] = recording->wanted[i];
		recording->slots[i].changed_in = recording->last.number;
	}
	recapture_commit(recording);
	changes_clear(recording);
	revisions_clear(recording);
	return 0;
}

static int check_bound(struct dagpatch_recording *recording)
{
	char text[96];

	for (uint32_t i = 0; i < recording->slot_count; i++)
		if (recording->wanted[i] == 0)
			return recording_fail(recording, -ENXIO, "%s has no address yet",
					      slot_text(recording, i, text));
	return 0;
}

/* Removes slots that were bound to another address and back again. */
static void settle(struct dagpatch_recording *recording)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < recording->changed_count; i++) {
		uint32_t slot = recording->changed[i];

		if (recording->wanted[slot] != recording->applied[slot])
			recording->changed[kept++] = slot;
		else
			recording->is_changed[slot] = 0;
	}
	recording->changed_count = kept;
}

/* Where ranks vote, a new graph that is due waits for the next vote. A spent one cannot wait: its
 * memsets would write wrong values. */
static bool needs_apply(const struct dagpatch_recording *recording)
{
	return recording->changed_count > 0 || recording->revisions.pending_count > 0 ||
	       recording->votes_always || recording->is_spent ||
	       (!recording->voter && is_due(recording));
}

static bool is_unchanged(const struct dagpatch_recording *recording)
{
	return recording->state == DAGPATCH_READY && !needs_apply(recording) &&
	       current_exec(recording);
}

static int check_applies(struct dagpatch_recording *recording)
{
	int err = recording->state == DAGPATCH_READY
			  ? 0
			  : recording_expect(recording, DAGPATCH_READY, "dagpatch_apply");

	if (err == 0 && (recording->flags & DAGPATCH_NESTED))
		err = recording_fail(recording, -EINVAL, "a nested recording cannot be launched");
	return err;
}

int apply_refuse(struct dagpatch_recording *recording, int err)
{
	if (recording->wanted)
		settle(recording);
	return recapture_refuse(recording, err);
}

/* Checks the recording and removes slots that have not changed. A failure is told to the ranks
 * that would wait for this one. */
static int begin(struct dagpatch_recording *recording, bool needs_all)
{
	int err = check_applies(recording);

	if (err == 0 && needs_all)
		err = check_bound(recording);
	if (err < 0)
		return apply_refuse(recording, err);
	settle(recording);
	return 0;
}

int wanted_begin(struct dagpatch_recording *recording)
{
	int err = begin(recording, true);

	if (err < 0)
		return err;
	err = recapture_prepare(recording, false);
	if (err < 0)
		return recapture_agree(recording, err);
	revisions_put(recording);
	images_write(recording, recording->wanted);
	return 0;
}

int wanted_end(struct dagpatch_recording *recording, int err)
{
	err = recapture_agree(recording, err);
	if (err == 0)
		recapture_cache(recording);
	revisions_take_back(recording);
	images_write(recording, recording->applied);
	recapture_drop(recording);
	return err;
}

static int apply(struct dagpatch_recording *recording)
{
	bool is_first = !current_exec(recording);
	int err = begin(recording, is_first);

	if (err < 0)
		return err;
	if (!is_first && !needs_apply(recording))
		return 0;
	err = is_first ? build_first(recording) : apply_changes(recording);
	return err < 0 ? err : 1;
}

int apply_if_needed(struct dagpatch_recording *recording)
{
	return is_unchanged(recording) ? 0 : apply(recording);
}

int apply_enter(struct dagpatch_recording *recording)
{
	int err = recording_own(recording);

	if (err < 0)
		return err;
	err = recording_visit(recording);
	if (err < 0) {
		apply_refuse(recording, err);
		recording_disown(recording);
	}
	return err;
}

int dagpatch_apply(struct dagpatch_recording *recording)
{
	int err = apply_enter(recording);

	if (err < 0)
		return err;
	err = apply_if_needed(recording);
	recording_leave(recording);
	return err < 0 ? err : 0;
}
