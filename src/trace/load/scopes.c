/* The stage of scopes: each begin with its end and its attributes.
 *
 * The rank of a scope's id is its row, so threads share the scopes. Texts are interned in the order
 * of rows: each part has a table of its own, whose texts are then interned part by part. Scopes
 * that bring new texts, attributes or bodies are taken by one thread, in order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "record/attribute.h"
#include "trace/load/call_streams.h"
#include "trace/load/scope_naming.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

#define SCOPES_PER_PART 32768

/* What a part of the scopes leaves. */
struct scope_part {
	struct strtab texts;
	trace_string *numbers; /* by text of the part: its number in the trace */
	/* rows with attributes in their record, or with the first text of its kind in the part */
	uint32_t *special;
	uint32_t special_count;
};

/* The texts and attributes that scopes share (SCOPE_BODY), by the rank of their numbers. */
struct scope_bodies {
	struct idset numbers;
	const struct record_scope **records;
	struct scope_naming *parsed; /* what the scopes of each body have in common */
	uint32_t *of_rows;	     /* by row: the rank of its body; UINT32_MAX: none */
};

struct scope_fill {
	struct process_load *load;
	struct scope_bodies bodies;
	const struct raw **raws; /* by row; NULL once the attributes are complete */
	struct trace_scope *rows;
	uint32_t count;
	uint64_t *is_ended;	   /* a bit per row */
	_Atomic bool has_repeated; /* some scopes have several ends */
	struct scope_part *parts;
	uint32_t part_count;
	struct scope_naming *parsed; /* by text */
};

static uint64_t scope_id(const struct raw *row)
{
	return ((const struct record_scope *)row->record)->id;
}

static uint64_t scope_end_id(const struct raw *row)
{
	return ((const struct record_scope_end *)row->record)->id;
}

/* Sorts LIST by id; for equal ids, in the order in which they were written. Ids mostly occur once,
 * and then the order of chunks in the file does not matter. */
static int sort_by_id(struct raw_list *list, uint64_t (*id)(const struct raw *row))
{
	bool is_mixed = false;

	if (raw_sort(list, id) < 0)
		return -ENOMEM;
	for (uint32_t i = 1; i < list->count && !is_mixed; i++)
		is_mixed = id(&list->rows[i - 1]) == id(&list->rows[i]) &&
			   list->rows[i - 1].order > list->rows[i].order;
	if (!is_mixed)
		return 0;
	return raw_sort(list, raw_order) < 0 ? -ENOMEM : raw_sort(list, id);
}

/* ---- rows ---- */

static int place_part(void *scope_fill, unsigned worker, uint32_t number)
{
	struct scope_fill *fill = scope_fill;
	const struct process_load *load = fill->load;
	const struct raw_list *list = &load->raw.lists[RECORD_SCOPE];
	uint64_t end = (number + 1ull) * SCOPES_PER_PART;

	for (uint64_t i = end - SCOPES_PER_PART; i < end && i < list->count; i++) {
		uint32_t rank = idset_find(&load->raw.scope_ids, scope_id(&list->rows[i]));

		if (rank == UINT32_MAX)
			return -ESTALE;
		fill->raws[rank] = &list->rows[i];
	}
	return 0;
}

/* True for a repeated record: in a ring recording, kept scopes are written more than once. */
static bool is_said_again(const struct raw *first, const struct raw *again)
{
	const struct record_scope *a = first->record, *b = again->record;

	return a->header.tag == b->header.tag && a->ns == b->ns && a->text_bytes == b->text_bytes;
}

/* Finds the record of each row. Of several with one id the first counts. */
static int find_raws(struct scope_fill *fill)
{
	struct process_load *load = fill->load;
	struct raw_list *list = &load->raw.lists[RECORD_SCOPE];
	uint32_t used = 0;

	if (list->count == fill->count)
		return workers_run(WORKERS_ALL, fill->part_count, place_part, fill);
	if (sort_by_id(list, scope_id) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		if (i && scope_id(&list->rows[i - 1]) == scope_id(&list->rows[i]))
			load->tally.duplicates +=
				!is_said_again(&list->rows[i - 1], &list->rows[i]);
		else if (used < fill->count)
			fill->raws[used++] = &list->rows[i];
	}
	return used == fill->count ? 0 : -ESTALE;
}

static int note_special(struct scope_part *part, uint32_t row)
{
	uint32_t *place = table_add((void **)&part->special, &part->special_count, sizeof(*place));

	if (!place)
		return -ENOMEM;
	*place = row;
	return 0;
}

/* ---- bodies ---- */

/* Of several records of one number the first counts: they are equal. */
static int find_bodies(struct scope_fill *fill)
{
	const struct raw_list *list = &fill->load->raw.lists[RECORD_SCOPE_BODY];
	struct scope_bodies *bodies = &fill->bodies;
	int err = 0;

	for (uint32_t i = 0; i < list->count && err == 0; i++)
		err = idset_add(&bodies->numbers,
				((const struct record_scope *)list->rows[i].record)->header.tag);
	if (err == 0)
		err = idset_finish(&bodies->numbers);
	if (err < 0)
		return err;
	bodies->records = table_zeroed(bodies->numbers.count, sizeof(*bodies->records));
	bodies->parsed = table_zeroed(bodies->numbers.count, sizeof(*bodies->parsed));
	bodies->of_rows = table_alloc(fill->count, sizeof(*bodies->of_rows));
	if (!bodies->records || !bodies->parsed || !bodies->of_rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_scope *record = list->rows[i].record;
		uint32_t rank = idset_find(&bodies->numbers, record->header.tag);

		if (!bodies->records[rank])
			bodies->records[rank] = record;
	}
	return 0;
}

/* Returns the record that has the text and the attributes of the scope in ROW, mostly the scope's
 * own, and notes its body. The record of a body may be lost; then the scope's text is empty. */
static const struct record_scope *find_body(const struct scope_fill *fill, uint32_t row)
{
	const struct record_scope *scope = fill->raws[row]->record;
	uint32_t number = record_scope_body(scope);
	uint32_t rank = number ? idset_find(&fill->bodies.numbers, number) : UINT32_MAX;

	fill->bodies.of_rows[row] = rank;
	return rank == UINT32_MAX ? scope : fill->bodies.records[rank];
}

static struct trace_scope scope_row(const struct process_load *load, struct strtab *texts,
				    struct fill_thread *thread, const struct raw *raw,
				    const struct record_scope *body)
{
	const struct record_scope *record = raw->record;

	return (struct trace_scope){
		.process = load->process,
		.id = record->id,
		/* The parent may be a scope of any thread. */
		.parent = load_find_scope(load, record->parent),
		.kind = record->header.tag,
		.text = strtab_intern(texts, body->text, body->text_bytes),
		.thread = fill_thread(thread, load, raw->tid),
		.begin_ns = (int64_t)record->ns,
		.end_ns = (int64_t)record->ns,
	};
}

static uint32_t part_end(const struct scope_fill *fill, uint32_t number)
{
	uint64_t end = (number + 1ull) * SCOPES_PER_PART;

	return end < fill->count ? (uint32_t)end : fill->count;
}

static int fill_part(void *scope_fill, unsigned worker, uint32_t number)
{
	const struct scope_fill *fill = scope_fill;
	struct scope_part *part = &fill->parts[number];
	struct fill_thread thread = {0};
	uint32_t known = 0; /* number of texts that were seen; "" is there from the beginning */

	if (strtab_init(&part->texts) < 0)
		return -ENOMEM;
	for (uint32_t i = number * SCOPES_PER_PART; i < part_end(fill, number); i++) {
		const struct record_scope *body = find_body(fill, i);
		bool is_own = body == fill->raws[i]->record && record_attribute_next(body, NULL);

		fill->rows[i] = scope_row(fill->load, &part->texts, &thread, fill->raws[i], body);
		if ((fill->rows[i].text >= known || is_own) && note_special(part, i) < 0)
			return -ENOMEM;
		if (fill->rows[i].text >= known)
			known = fill->rows[i].text + 1;
	}
	return part->texts.failed ? -ENOMEM : 0;
}

/* ---- ends ---- */

static int end_part(void *scope_fill, unsigned worker, uint32_t number)
{
	struct scope_fill *fill = scope_fill;
	const struct process_load *load = fill->load;
	const struct raw_list *ends = &load->raw.lists[RECORD_SCOPE_END];
	uint64_t end = (number + 1ull) * SCOPES_PER_PART;

	for (uint64_t i = end - SCOPES_PER_PART; i < end && i < ends->count; i++) {
		const struct record_scope_end *record = ends->rows[i].record;
		uint32_t rank = idset_find(&load->raw.scope_ids, record->id);
		uint64_t bit = 1ull << rank % 64;

		if (rank == UINT32_MAX || fill->rows[rank].kind == RECORD_SCOPE_MARK)
			continue;
		if (__atomic_fetch_or(&fill->is_ended[rank / 64], bit, __ATOMIC_RELAXED) & bit)
			fill->has_repeated = true;
		else
			fill->rows[rank].end_ns = (int64_t)record->ns;
	}
	return 0;
}

/* Of several ends of a scope, the first counts. */
static int end_in_order(struct scope_fill *fill)
{
	struct raw_list *ends = &fill->load->raw.lists[RECORD_SCOPE_END];
	uint32_t at = ends->count;

	if (sort_by_id(ends, scope_end_id) < 0)
		return -ENOMEM;
	while (at-- > 0) {
		const struct record_scope_end *record = ends->rows[at].record;
		uint32_t rank = idset_find(&fill->load->raw.scope_ids, record->id);

		if (rank != UINT32_MAX && fill->rows[rank].kind != RECORD_SCOPE_MARK)
			fill->rows[rank].end_ns = (int64_t)record->ns;
	}
	return 0;
}

/* Scopes without an end are open. They last until the end of the process. */
static void mark_open(struct scope_fill *fill)
{
	int64_t process_end = fill->load->trace->processes[fill->load->process].end_ns;

	for (uint32_t i = 0; i < fill->count; i++) {
		struct trace_scope *row = &fill->rows[i];

		if (i % 64 == 0 && fill->is_ended[i / 64] == UINT64_MAX) {
			i += 63;
			continue;
		}
		if (fill->is_ended[i / 64] >> i % 64 & 1 || row->kind == RECORD_SCOPE_MARK)
			continue;
		row->open = true;
		if (process_end > row->begin_ns)
			row->end_ns = process_end;
	}
}

static int close_scopes(struct scope_fill *fill)
{
	uint32_t ends = fill->load->raw.lists[RECORD_SCOPE_END].count;
	int err = workers_run(WORKERS_ALL, ends / SCOPES_PER_PART + 1, end_part, fill);

	if (err == 0 && fill->has_repeated)
		err = end_in_order(fill);
	if (err == 0)
		mark_open(fill);
	return err;
}

/* ---- texts and attributes ---- */

/* Interns the texts of all parts, in the order of rows; then those of bodies without a scope. */
static int take_texts(struct scope_fill *fill)
{
	for (uint32_t i = 0; i < fill->part_count; i++) {
		struct scope_part *part = &fill->parts[i];

		part->numbers = table_alloc(part->texts.count, sizeof(*part->numbers));
		if (!part->numbers)
			return -ENOMEM;
		for (uint32_t k = 0; k < part->texts.count; k++)
			part->numbers[k] =
				strtab_intern_z(fill->load->strings, part->texts.strings[k]);
	}
	for (uint32_t i = 0; i < fill->bodies.numbers.count; i++) {
		const struct record_scope *body = fill->bodies.records[i];

		strtab_intern(fill->load->strings, body->text, body->text_bytes);
	}
	return fill->load->strings->failed ? -ENOMEM : 0;
}

/* Parses the texts, and adds the attributes of records. */
static int take_special(struct scope_fill *fill, const struct scope_part *part)
{
	int err = 0;

	for (uint32_t i = 0; i < part->special_count && err == 0; i++) {
		uint32_t at = part->special[i];
		const struct record_scope *record = fill->raws[at]->record;
		trace_string number = part->numbers[fill->rows[at].text];
		struct scope_naming *text = &fill->parsed[number];

		if (!text->is_known)
			err = scope_naming_parse(fill->load, number, text);
		if (err < 0 || fill->bodies.of_rows[at] != UINT32_MAX ||
		    !record_attribute_next(record, NULL))
			continue;
		scope_naming_use(text, &fill->rows[at]);
		err = scope_naming_own(fill->load, record, &fill->rows[at]);
		fill->raws[at] = NULL;
	}
	return err;
}

/* Parses each body once for all its scopes. */
static int take_bodies(struct scope_fill *fill)
{
	struct process_load *load = fill->load;
	int err = 0;

	for (uint32_t i = 0; i < fill->bodies.numbers.count && err == 0; i++) {
		const struct record_scope *body = fill->bodies.records[i];
		trace_string number = strtab_intern(load->strings, body->text, body->text_bytes);
		struct scope_naming *text = &fill->parsed[number];
		struct trace_scope row = {0};

		if (!text->is_known)
			err = scope_naming_parse(load, number, text);
		if (err < 0)
			break;
		scope_naming_use(text, &row);
		err = scope_naming_own(load, body, &row);
		fill->bodies.parsed[i] = (struct scope_naming){
			.is_known = true,
			.name = row.name,
			.first = row.attribute_first,
			.count = row.attribute_count,
		};
	}
	return err;
}

static int finish_part(void *scope_fill, unsigned worker, uint32_t number)
{
	const struct scope_fill *fill = scope_fill;
	const struct scope_part *part = &fill->parts[number];

	for (uint32_t i = number * SCOPES_PER_PART; i < part_end(fill, number); i++) {
		uint32_t body = fill->bodies.of_rows[i];

		fill->rows[i].text = part->numbers[fill->rows[i].text];
		if (body != UINT32_MAX)
			scope_naming_use(&fill->bodies.parsed[body], &fill->rows[i]);
		else if (fill->raws[i])
			scope_naming_use(&fill->parsed[fill->rows[i].text], &fill->rows[i]);
	}
	return 0;
}

static int load_texts(struct scope_fill *fill)
{
	int err = take_texts(fill);

	/* Names that are interned below get numbers after those of all texts. */
	if (err == 0) {
		fill->parsed = calloc(fill->load->strings->count + 1, sizeof(*fill->parsed));
		err = fill->parsed ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; i < fill->part_count && err == 0; i++)
		err = take_special(fill, &fill->parts[i]);
	if (err == 0)
		err = take_bodies(fill);
	return err == 0 ? workers_run(WORKERS_ALL, fill->part_count, finish_part, fill) : err;
}

/* ---- the stage ---- */

static int init_fill(struct scope_fill *fill, struct process_load *load)
{
	uint32_t count = load->raw.scope_ids.count;

	*fill = (struct scope_fill){
		.load = load,
		.count = count,
		.part_count = count / SCOPES_PER_PART + 1,
		.raws = table_alloc(count, sizeof(*fill->raws)),
		.is_ended = table_zeroed(count / 64, sizeof(*fill->is_ended)),
	};
	fill->parts = table_zeroed(fill->part_count, sizeof(*fill->parts));
	fill->rows = trace_append(load->trace, scopes, count);
	return fill->raws && fill->is_ended && fill->parts && fill->rows ? 0 : -ENOMEM;
}

static void release_fill(struct scope_fill *fill)
{
	for (uint32_t i = 0; fill->parts && i < fill->part_count; i++) {
		strtab_release(&fill->parts[i].texts);
		free(fill->parts[i].numbers);
		free(fill->parts[i].special);
	}
	idset_release(&fill->bodies.numbers);
	free(fill->bodies.records);
	free(fill->bodies.parsed);
	free(fill->bodies.of_rows);
	free(fill->parts);
	free(fill->raws);
	free(fill->is_ended);
	free(fill->parsed);
}

int scopes_load(struct process_load *load)
{
	struct scope_fill fill;
	int err = init_fill(&fill, load);

	if (err == 0)
		err = find_raws(&fill);
	if (err == 0)
		err = find_bodies(&fill);
	if (err == 0)
		err = workers_run(WORKERS_ALL, fill.part_count, fill_part, &fill);
	if (err == 0)
		err = close_scopes(&fill);
	if (err == 0)
		err = load_texts(&fill);
	release_fill(&fill);
	raw_release(&load->raw.lists[RECORD_SCOPE]);
	raw_release(&load->raw.lists[RECORD_SCOPE_END]);
	raw_release(&load->raw.lists[RECORD_SCOPE_BODY]);
	return err;
}
