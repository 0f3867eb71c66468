/* Adds up the memory that the program held (held_memory.h): walks through all begins and ends of
 * blocks in the order of time. */
#include "analyze/held_memory.h"

#include <errno.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "base/table.h"
#include "trace/row_table.h"

struct adding {
	const struct trace *trace;
	const struct memory_blocks *blocks;
	const bool *is_selected; /* by block; NULL: all are */
	struct memory memory;
	struct numbers place_keys, use_keys, leak_keys;
	uint32_t *use_of;	   /* by block */
	uint32_t *begins, *ends;   /* by position: the block, or TRACE_NONE */
	int64_t first_ns, last_ns; /* of all begins and ends of selected blocks */
	uint32_t parts;		   /* steps of each place */
	uint32_t *reached;	   /* by place: its steps before this one are complete */
};

static bool is_held(const struct adding *adding, uint32_t block)
{
	return block != TRACE_NONE && adding->blocks->rows[block].result == 0 &&
	       (!adding->is_selected || adding->is_selected[block]);
}

/* ---- places and uses ---- */

static int64_t find_place(struct adding *adding, const struct memory_block *block)
{
	struct memory *memory = &adding->memory;
	struct memory_place *added;
	int64_t place = numbers_row(
		&adding->place_keys, (uint64_t)block->process << 32 | block->agent, block->kind,
		(void **)&memory->places, &memory->places_count, sizeof(*added), (void **)&added);

	if (added) {
		added->process = block->process;
		added->agent = block->agent;
		added->kind = block->kind;
	}
	return place;
}

static trace_string function_of(const struct trace *trace, uint32_t call)
{
	return call == TRACE_NONE ? 0 : trace->apis[trace->calls[call].api].name;
}

static int64_t find_use(struct adding *adding, const struct memory_block *block, uint32_t place)
{
	const struct trace *trace = adding->trace;
	struct memory *memory = &adding->memory;
	trace_string scope =
		block->scope == TRACE_NONE ? 0 : trace_scope_label(trace, block->scope);
	trace_string function = function_of(trace, block->call);
	struct memory_use *added;
	int64_t use = numbers_row(&adding->use_keys, (uint64_t)place << 32 | block->stream,
				  (uint64_t)scope << 32 | function, (void **)&memory->uses,
				  &memory->uses_count, sizeof(*added), (void **)&added);

	if (added) {
		added->place = place;
		added->scope = scope;
		added->stream = block->stream;
		added->function = function;
	}
	return use;
}

static int add_leak(struct adding *adding, const struct memory_block *block, uint32_t use)
{
	struct memory *memory = &adding->memory;
	struct memory_leak *added;
	int64_t leak = numbers_row(&adding->leak_keys, use, block->bytes, (void **)&memory->leaks,
				   &memory->leaks_count, sizeof(*added), (void **)&added);

	if (leak < 0)
		return -ENOMEM;
	if (added) {
		added->use = use;
		added->bytes = block->bytes;
	}
	memory->leaks[leak].count++;
	return 0;
}

static int add_block(struct adding *adding, uint32_t index)
{
	const struct memory_block *block = &adding->blocks->rows[index];
	int64_t place = find_place(adding, block);
	int64_t use = place < 0 ? -ENOMEM : find_use(adding, block, (uint32_t)place);

	if (use < 0)
		return -ENOMEM;
	adding->use_of[index] = (uint32_t)use;
	adding->memory.places[place].allocations++;
	adding->memory.places[place].allocated_bytes += block->bytes;
	adding->memory.places[place].releases += !block->is_live;
	adding->memory.uses[use].allocations++;
	adding->memory.uses[use].allocated_bytes += block->bytes;
	return block->is_live ? add_leak(adding, block, (uint32_t)use) : 0;
}

static int add_failure(struct adding *adding, uint32_t block)
{
	uint32_t *added = trace_add(&adding->memory, failures);

	if (!added)
		return -ENOMEM;
	*added = block;
	return 0;
}

static void widen(struct adding *adding, const struct memory_block *block)
{
	int64_t end_ns = block->is_live ? block->begin_ns : block->end_ns;

	if (block->begin_ns < adding->first_ns)
		adding->first_ns = block->begin_ns;
	if (end_ns > adding->last_ns)
		adding->last_ns = end_ns;
}

/* Adds all blocks, and sorts their begins and ends. */
static int add_blocks(struct adding *adding)
{
	const struct memory_blocks *blocks = adding->blocks;
	int err = 0;

	for (uint32_t i = 0; i < blocks->events_count; i++)
		adding->begins[i] = adding->ends[i] = TRACE_NONE;
	for (uint32_t i = 0; i < blocks->count && err == 0; i++) {
		const struct memory_block *block = &blocks->rows[i];

		if (is_held(adding, i)) {
			adding->begins[block->begin] = i;
			if (!block->is_live)
				adding->ends[block->end] = i;
			widen(adding, block);
			err = add_block(adding, i);
		} else if (block->result && (!adding->is_selected || adding->is_selected[i])) {
			err = add_failure(adding, i);
		}
	}
	return err;
}

/* ---- the walk ---- */

static uint32_t part_at(const struct adding *adding, int64_t ns)
{
	double span = (double)(adding->last_ns - adding->first_ns) + 1;

	return (uint32_t)((double)(ns - adding->first_ns) / span * adding->parts);
}

/* Completes PLACE's steps before PART, in which its live bytes stayed as they are. */
static void step_to(struct adding *adding, uint32_t place, uint32_t part)
{
	struct memory_step *steps = adding->memory.steps + (size_t)place * adding->parts;
	uint64_t live = adding->memory.places[place].live_bytes;
	uint32_t *reached = &adding->reached[place];

	while (*reached < part) {
		steps[*reached].live_bytes = live;
		steps[++*reached].peak_bytes = live;
	}
	steps[part].live_bytes = live;
	if (live > steps[part].peak_bytes)
		steps[part].peak_bytes = live;
}

static void raise_peak(uint64_t bytes, uint64_t *peak)
{
	if (bytes > *peak)
		*peak = bytes;
}

static void take_begin(struct adding *adding, uint32_t position)
{
	const struct memory_block *block = &adding->blocks->rows[adding->begins[position]];
	struct memory_use *use = &adding->memory.uses[adding->use_of[adding->begins[position]]];
	struct memory_place *place = &adding->memory.places[use->place];

	step_to(adding, use->place, part_at(adding, block->begin_ns));
	use->live_bytes += block->bytes;
	use->live_count++;
	raise_peak(use->live_bytes, &use->peak_bytes);
	place->live_bytes += block->bytes;
	place->live_count++;
	if (place->live_bytes > place->peak_bytes) {
		place->peak_bytes = place->live_bytes;
		place->peak_ns = block->begin_ns;
		place->peak = position;
	}
	step_to(adding, use->place, part_at(adding, block->begin_ns));
}

static void take_end(struct adding *adding, uint32_t position)
{
	const struct memory_block *block = &adding->blocks->rows[adding->ends[position]];
	struct memory_use *use = &adding->memory.uses[adding->use_of[adding->ends[position]]];
	struct memory_place *place = &adding->memory.places[use->place];

	step_to(adding, use->place, part_at(adding, block->end_ns));
	use->live_bytes -= block->bytes;
	use->live_count--;
	place->live_bytes -= block->bytes;
	place->live_count--;
	step_to(adding, use->place, part_at(adding, block->end_ns));
}

static int walk(struct adding *adding)
{
	struct memory *memory = &adding->memory;
	struct memory_step *steps =
		trace_extend(memory, steps, (uint64_t)memory->places_count * adding->parts);

	adding->reached = table_zeroed(memory->places_count, sizeof(*adding->reached));
	if (!steps || !adding->reached)
		return -ENOMEM;
	for (uint32_t i = 0; i < memory->steps_count; i++) {
		double part = (double)(adding->last_ns - adding->first_ns) / adding->parts;
		uint32_t of_place = i % adding->parts;

		steps[i].place = i / adding->parts;
		steps[i].begin_ns = adding->first_ns + (int64_t)(part * of_place);
		steps[i].end_ns = adding->first_ns + (int64_t)(part * (of_place + 1));
	}
	for (uint32_t i = 0; i < adding->blocks->events_count; i++) {
		if (adding->ends[i] != TRACE_NONE)
			take_end(adding, i);
		if (adding->begins[i] != TRACE_NONE)
			take_begin(adding, i);
	}
	for (uint32_t i = 0; i < memory->places_count; i++)
		step_to(adding, i, adding->parts - 1);
	return 0;
}

/* What each use held when its place was at its peak. */
static void share_peaks(struct adding *adding)
{
	for (uint32_t i = 0; i < adding->blocks->count; i++) {
		const struct memory_block *block = &adding->blocks->rows[i];
		struct memory_use *use;
		uint32_t peak;

		if (!is_held(adding, i))
			continue;
		use = &adding->memory.uses[adding->use_of[i]];
		peak = adding->memory.places[use->place].peak;
		if (block->begin <= peak && peak < block->end) {
			use->peak_share += block->bytes;
			use->peak_count++;
		}
	}
}

/* ---- the order ---- */

static int compare_leaks(const void *left, const void *right)
{
	const struct memory_leak *a = left, *b = right;
	uint64_t a_bytes = a->bytes * a->count, b_bytes = b->bytes * b->count;

	if (a_bytes != b_bytes)
		return a_bytes < b_bytes ? 1 : -1;
	return (a->use > b->use) - (a->use < b->use);
}

static int compare_uses(const void *left, const void *right, void *context)
{
	const uint32_t *a = left, *b = right;
	const struct memory_use *uses = context;

	if (uses[*a].peak_bytes != uses[*b].peak_bytes)
		return uses[*a].peak_bytes < uses[*b].peak_bytes ? 1 : -1;
	return (*a > *b) - (*a < *b);
}

/* Sorts the uses, and renumbers them in the leaks. */
static int sort_uses(struct memory *memory)
{
	uint32_t count = memory->uses_count;
	uint32_t *order = table_alloc(count, sizeof(*order));
	uint32_t *numbers = table_alloc(count, sizeof(*numbers));
	struct memory_use *sorted = table_alloc(count, sizeof(*sorted));
	int err = order && numbers && sorted ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && err == 0; i++)
		order[i] = i;
	if (err == 0)
		qsort_r(order, count, sizeof(*order), compare_uses, memory->uses);
	for (uint32_t i = 0; i < count && err == 0; i++) {
		sorted[i] = memory->uses[order[i]];
		numbers[order[i]] = i;
	}
	for (uint32_t i = 0; i < memory->leaks_count && err == 0; i++)
		memory->leaks[i].use = numbers[memory->leaks[i].use];
	free(order);
	free(numbers);
	if (err < 0) {
		free(sorted);
		return err;
	}
	free(memory->uses);
	memory->uses = sorted;
	if (memory->leaks_count)
		qsort(memory->leaks, memory->leaks_count, sizeof(*memory->leaks), compare_leaks);
	return 0;
}

int memory_make(const struct trace *trace, const struct memory_blocks *blocks,
		const bool *is_selected, uint32_t parts, struct memory *ret_memory)
{
	struct adding adding = {
		.trace = trace,
		.blocks = blocks,
		.is_selected = is_selected,
		.parts = parts,
		.use_of = table_alloc(blocks->count, sizeof(uint32_t)),
		.begins = table_alloc(blocks->events_count, sizeof(uint32_t)),
		.ends = table_alloc(blocks->events_count, sizeof(uint32_t)),
		.first_ns = INT64_MAX,
		.last_ns = INT64_MIN,
	};
	int err = adding.use_of && adding.begins && adding.ends ? 0 : -ENOMEM;

	if (err == 0)
		err = add_blocks(&adding);
	if (err == 0)
		err = walk(&adding);
	if (err == 0) {
		share_peaks(&adding);
		err = sort_uses(&adding.memory);
	}
	free(adding.use_of);
	free(adding.begins);
	free(adding.ends);
	free(adding.reached);
	numbers_release(&adding.place_keys);
	numbers_release(&adding.use_keys);
	numbers_release(&adding.leak_keys);
	if (err < 0)
		memory_release(&adding.memory);
	else
		*ret_memory = adding.memory;
	return err;
}

void memory_release(struct memory *memory)
{
	free(memory->places);
	free(memory->uses);
	free(memory->leaks);
	free(memory->failures);
	free(memory->steps);
	*memory = (struct memory){0};
}
