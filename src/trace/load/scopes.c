/* The stage of scopes: each begin with its end and its attributes.
 *
 * The rank of a scope's id is its row, so threads share the scopes. Texts are interned in the order
 * of rows: each part has a table of its own, whose texts are then interned part by part. Scopes
 * that bring new texts or attributes are taken by one thread, in order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "record/attribute.h"
#include "trace/load/calls.h"
#include "trace/load/scope_text.h"
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

struct scope_fill {
	struct process_load *load;
	const struct raw **raws; /* by row; NULL once the attributes are complete */
	struct trace_scope *rows;
	uint32_t count;
	uint64_t *is_ended;	   /* a bit per row */
	_Atomic bool has_repeated; /* some scopes have several ends */
	struct scope_part *parts;
	uint32_t part_count;
	struct parsed_text *parsed; /* by text */
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

static struct trace_scope scope_row(const struct process_load *load, struct strtab *texts,
				    struct fill_thread *thread, const struct raw *raw)
{
	const struct record_scope *record = raw->record;

	return (struct trace_scope){
		.process = load->process,
		.id = record->id,
		/* The parent may be a scope of any thread. */
		.parent = load_find_scope(load, record->parent),
		.kind = record->header.tag,
		.text = strtab_intern(texts, record->text, record->text_bytes),
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
		const struct raw *raw = fill->raws[i];

		fill->rows[i] = scope_row(fill->load, &part->texts, &thread, raw);
		if ((fill->rows[i].text >= known || record_attribute_next(raw->record, NULL)) &&
		    note_special(part, i) < 0)
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

/* ---- attributes ---- */

/* The parts of a text. All scopes with this text share them. */
struct parsed_text {
	bool is_parsed;
	trace_string name;
	uint32_t first, count;
};

static int add_attribute(struct process_load *load, const struct trace_scope_attribute *attribute)
{
	struct trace_scope_attribute *row = trace_add(load->trace, scope_attributes);

	if (!row)
		return -ENOMEM;
	*row = *attribute;
	return 0;
}

static int parse_text(struct process_load *load, trace_string text, struct parsed_text *ret_parsed)
{
	const char *bytes = load->strings->strings[text];
	struct trace_scope_attribute attribute;
	struct scope_text parts;

	scope_text_split(bytes, strlen(bytes), &parts);
	ret_parsed->is_parsed = true;
	ret_parsed->name = strtab_intern(load->strings, parts.name, parts.name_bytes);
	ret_parsed->first = load->trace->scope_attributes_count;
	while (scope_text_next(&parts, load->strings, &attribute))
		if (add_attribute(load, &attribute) < 0)
			return -ENOMEM;
	ret_parsed->count = load->trace->scope_attributes_count - ret_parsed->first;
	return 0;
}

static bool decode_attribute(struct process_load *load, const struct record_attribute *record,
			     struct trace_scope_attribute *ret_row)
{
	*ret_row = (struct trace_scope_attribute){
		.key = strtab_intern(load->strings, record->bytes, record->key_bytes),
		.kind = record->kind,
	};
	if (record->kind == RECORD_ATTRIBUTE_TEXT)
		ret_row->value.text = strtab_intern(
			load->strings, record->bytes + record->key_bytes, record->text_bytes);
	else
		memcpy(&ret_row->value, &record->value, sizeof(record->value));
	return record->kind > RECORD_ATTRIBUTE_NONE && record->kind < RECORD_ATTRIBUTE_KIND_COUNT;
}

/* Gives a scope with attributes in its record rows of its own: these, then a copy of those in its
 * text. */
static int own_attributes(struct process_load *load, const struct record_scope *record,
			  struct trace_scope *row)
{
	const struct record_attribute *next = record_attribute_next(record, NULL);
	uint32_t text_first = row->attribute_first, text_count = row->attribute_count;
	struct trace_scope_attribute attribute;

	if (!next)
		return 0;
	row->attribute_first = load->trace->scope_attributes_count;
	for (; next; next = record_attribute_next(record, next))
		if (decode_attribute(load, next, &attribute) && add_attribute(load, &attribute) < 0)
			return -ENOMEM;
	for (uint32_t i = 0; i < text_count; i++) {
		attribute = load->trace->scope_attributes[text_first + i];
		if (add_attribute(load, &attribute) < 0)
			return -ENOMEM;
	}
	row->attribute_count = load->trace->scope_attributes_count - row->attribute_first;
	return 0;
}

/* Interns the texts of all parts, in the order of rows. */
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
	return fill->load->strings->failed ? -ENOMEM : 0;
}

static void use_text(const struct parsed_text *text, struct trace_scope *row)
{
	row->name = text->name;
	row->attribute_first = text->first;
	row->attribute_count = text->count;
}

/* Parses the texts, and adds the attributes of records. */
static int take_special(struct scope_fill *fill, const struct scope_part *part)
{
	int err = 0;

	for (uint32_t i = 0; i < part->special_count && err == 0; i++) {
		uint32_t at = part->special[i];
		const struct record_scope *record = fill->raws[at]->record;
		trace_string number = part->numbers[fill->rows[at].text];
		struct parsed_text *text = &fill->parsed[number];

		if (!text->is_parsed)
			err = parse_text(fill->load, number, text);
		if (err < 0 || !record_attribute_next(record, NULL))
			continue;
		use_text(text, &fill->rows[at]);
		err = own_attributes(fill->load, record, &fill->rows[at]);
		fill->raws[at] = NULL;
	}
	return err;
}

static int finish_part(void *scope_fill, unsigned worker, uint32_t number)
{
	const struct scope_fill *fill = scope_fill;
	const struct scope_part *part = &fill->parts[number];

	for (uint32_t i = number * SCOPES_PER_PART; i < part_end(fill, number); i++) {
		fill->rows[i].text = part->numbers[fill->rows[i].text];
		if (fill->raws[i])
			use_text(&fill->parsed[fill->rows[i].text], &fill->rows[i]);
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
		err = workers_run(WORKERS_ALL, fill.part_count, fill_part, &fill);
	if (err == 0)
		err = close_scopes(&fill);
	if (err == 0)
		err = load_texts(&fill);
	release_fill(&fill);
	raw_release(&load->raw.lists[RECORD_SCOPE]);
	raw_release(&load->raw.lists[RECORD_SCOPE_END]);
	return err;
}
