/* Reads files of statistics: see stats_file.h. Everything in a file is from outside: each line is
 * checked before it counts. */
#include "stats/stats_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "wire/json_reader.h"

#define FIELDS(X)                                                                                  \
	X(dagstats)                                                                                \
	X(process)                                                                                 \
	X(key)                                                                                     \
	X(interval)                                                                                \
	X(outlier)                                                                                 \
	X(end)                                                                                     \
	X(error)                                                                                   \
	X(kind)                                                                                    \
	X(name)                                                                                    \
	X(graph)                                                                                   \
	X(node)                                                                                    \
	X(begin_ns)                                                                                \
	X(end_ns)                                                                                  \
	X(rows)                                                                                    \
	X(count)                                                                                   \
	X(untimed)                                                                                 \
	X(sum_ns)                                                                                  \
	X(min_ns)                                                                                  \
	X(max_ns)                                                                                  \
	X(zeros)                                                                                   \
	X(collapsed)                                                                               \
	X(buckets)                                                                                 \
	X(file)                                                                                    \
	X(lost)                                                                                    \
	X(dropped)                                                                                 \
	X(no_writer)                                                                               \
	X(cut_off)                                                                                 \
	X(left_out)                                                                                \
	X(deliveries)

enum field {
#define X(name, ...) FIELD_##name,
	FIELDS(X) STAT_DELIVERIES(X)
#undef X
		FIELD_COUNT
};

static const char *const field_texts[] = {
#define X(name, ...) #name,
	FIELDS(X) STAT_DELIVERIES(X)
#undef X
};

/* Where in a line the reader is. Anything else is skipped. */
enum place { PLACE_OUTSIDE, PLACE_LINE, PLACE_ROWS, PLACE_ROW, PLACE_BUCKETS };

/* The members of an object. */
struct members {
	uint64_t has; /* bits, by field */
	uint64_t values[FIELD_COUNT];
};
_Static_assert(FIELD_COUNT <= 64, "a bit for each field");

struct reader {
	struct stats *stats;
	struct stats_reading *reading;
	const char *next; /* the line, of next_bytes; NULL: it was given out */
	size_t next_bytes;
	const char *cause; /* why the line is refused; NULL: it is not */
	int error;	   /* a negative errno, if it is not the line's fault */

	enum place place;
	uint32_t skipped; /* depth inside values that are skipped */
	enum field field; /* FIELD_COUNT: an unknown one */
	bool has_first;
	enum field first; /* which line it is; FIELD_COUNT: an unknown one, which is skipped */
	struct members line, row;
	char *name; /* owned */
	enum stat_kind kind;
	struct sketch sketch; /* of the row */
	bool has_index;	      /* the next number among the buckets is a count */
	uint64_t index;

	bool has_head;
	uint32_t *keys; /* by number in the file: the key in stats */
	uint32_t keys_count;
	struct stat_deliveries *deliveries; /* by process of the file: its last line */
	uint32_t deliveries_count;
};

static bool refuse(struct reader *reader, const char *cause)
{
	if (!reader->cause)
		reader->cause = cause;
	return false;
}

static bool fail(struct reader *reader, int error)
{
	reader->error = error;
	return false;
}

static bool has(const struct members *members, enum field field)
{
	return members->has >> field & 1;
}

/* ---- rows ---- */

static bool end_row(struct reader *reader)
{
	const struct members *row = &reader->row;
	struct sketch *sketch = &reader->sketch;
	struct stat_row *into;

	if (!has(row, FIELD_key) || row->values[FIELD_key] >= reader->keys_count)
		return refuse(reader, "a row has no key, or one that has no line");
	if (row->values[FIELD_zeros] > UINT64_MAX - sketch->count ||
	    sketch->count + row->values[FIELD_zeros] != row->values[FIELD_count])
		return refuse(reader, "the buckets do not add up to the count");
	if (row->values[FIELD_min_ns] > row->values[FIELD_max_ns] ||
	    (row->values[FIELD_collapsed] &&
	     (!sketch->bucket_count || row->values[FIELD_collapsed] > sketch->buckets[0])))
		return refuse(reader, "a row contradicts itself");
	sketch->count = row->values[FIELD_count];
	sketch->sum = row->values[FIELD_sum_ns];
	sketch->least = row->values[FIELD_min_ns];
	sketch->largest = row->values[FIELD_max_ns];
	sketch->zeros = row->values[FIELD_zeros];
	sketch->collapsed += row->values[FIELD_collapsed];
	into = stats_get_row(reader->stats, 0, reader->keys[row->values[FIELD_key]]);
	if (!into || sketch_merge(&into->total, sketch) < 0)
		return fail(reader, -ENOMEM);
	into->untimed_total += row->values[FIELD_untimed];
	return true;
}

static bool take_bucket_number(struct reader *reader, uint64_t value)
{
	int err;

	reader->has_index = !reader->has_index;
	if (reader->has_index) {
		/* Each value is at most SKETCH_BUCKET_LAST, so the sum does not overflow. */
		if (value > SKETCH_BUCKET_LAST)
			return refuse(reader, "no bucket has this index");
		reader->index += value;
		return true;
	}
	if (reader->index > SKETCH_BUCKET_LAST)
		return refuse(reader, "no bucket has this index");
	err = sketch_add_bucket(&reader->sketch, (int32_t)reader->index, value);
	if (err == -EINVAL)
		return refuse(reader, "too many values");
	return err == 0 || fail(reader, err);
}

/* ---- tokens ---- */

static struct members *members_at(struct reader *reader)
{
	return reader->place == PLACE_ROW ? &reader->row : &reader->line;
}

static bool on_begin(void *context, bool is_object)
{
	struct reader *reader = context;

	if (reader->skipped) {
		reader->skipped++;
	} else if (reader->place == PLACE_OUTSIDE && is_object) {
		reader->place = PLACE_LINE;
	} else if (reader->place == PLACE_LINE && reader->field == FIELD_rows && !is_object) {
		if (reader->first != FIELD_interval)
			return refuse(reader, "rows without an interval");
		reader->place = PLACE_ROWS;
	} else if (reader->place == PLACE_ROWS && is_object) {
		reader->place = PLACE_ROW;
		reader->row = (struct members){0};
	} else if (reader->place == PLACE_ROW && reader->field == FIELD_buckets && !is_object) {
		if (has(&reader->row, FIELD_buckets))
			return refuse(reader, "a row has two lists of buckets");
		reader->row.has |= 1ull << FIELD_buckets;
		reader->place = PLACE_BUCKETS;
		reader->has_index = false;
		reader->index = 0;
	} else {
		reader->skipped = 1;
	}
	return true;
}

static bool on_end(void *context, bool is_object)
{
	struct reader *reader = context;
	bool is_good = true;

	(void)is_object;
	if (reader->skipped) {
		reader->skipped--;
		return true;
	}
	if (reader->place == PLACE_BUCKETS && reader->has_index)
		return refuse(reader, "a bucket has no count");
	if (reader->place == PLACE_ROW) {
		is_good = end_row(reader);
		sketch_release(&reader->sketch);
	}
	reader->place--;
	return is_good;
}

static bool on_key(void *context, const char *text, size_t bytes)
{
	struct reader *reader = context;

	if (reader->skipped)
		return true;
	reader->field = FIELD_COUNT;
	for (int i = 0; i < FIELD_COUNT; i++) {
		if (strlen(field_texts[i]) == bytes && !memcmp(field_texts[i], text, bytes))
			reader->field = (enum field)i;
	}
	if (!reader->has_first)
		reader->first = reader->field;
	reader->has_first = true;
	if (reader->first == FIELD_COUNT)
		reader->field = FIELD_COUNT;
	return true;
}

static bool take_kind(struct reader *reader, const char *text, size_t bytes)
{
	for (int kind = 0; kind < STAT_KIND_COUNT; kind++) {
		const char *known = stat_kind_text((enum stat_kind)kind);

		if (strlen(known) == bytes && !memcmp(known, text, bytes)) {
			reader->kind = (enum stat_kind)kind;
			return true;
		}
	}
	return refuse(reader, "an unknown kind of key");
}

static bool on_text(void *context, const char *text, size_t bytes)
{
	struct reader *reader = context;

	if (reader->skipped || reader->place != PLACE_LINE || reader->field == FIELD_COUNT)
		return true;
	reader->line.has |= 1ull << reader->field;
	if (reader->field == FIELD_kind)
		return take_kind(reader, text, bytes);
	if (reader->field != FIELD_name)
		return true;
	free(reader->name);
	reader->name = strndup(text, bytes);
	return reader->name || fail(reader, -ENOMEM);
}

static bool parse_number(const char *text, size_t bytes, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++) {
		if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
			return false;
	}
	*ret_value = value;
	return bytes > 0;
}

/* The relative error, which all files share that can be merged. */
static bool take_error(struct reader *reader, const char *text, size_t bytes)
{
	char copy[32] = "";

	if (bytes < sizeof(copy))
		memcpy(copy, text, bytes);
	reader->line.has |= 1ull << FIELD_error;
	return strtod(copy, NULL) == SKETCH_ERROR || refuse(reader, "another error bound");
}

static bool on_number(void *context, const char *text, size_t bytes)
{
	struct reader *reader = context;
	struct members *members = members_at(reader);
	uint64_t value;

	if (reader->skipped || reader->place == PLACE_OUTSIDE || reader->place == PLACE_ROWS)
		return true;
	if (reader->place != PLACE_BUCKETS && reader->field == FIELD_COUNT)
		return true;
	if (reader->place == PLACE_LINE && reader->field == FIELD_error)
		return take_error(reader, text, bytes);
	if (!parse_number(text, bytes, &value))
		return refuse(reader, "a number is not what it is to be");
	if (reader->place == PLACE_BUCKETS)
		return take_bucket_number(reader, value);
	members->values[reader->field] = value;
	members->has |= 1ull << reader->field;
	return true;
}

static bool on_literal(void *context, const char *text)
{
	(void)context;
	(void)text;
	return true;
}

static size_t on_next(void *context, const char **ret_piece)
{
	struct reader *reader = context;

	*ret_piece = reader->next;
	reader->next = NULL;
	return *ret_piece ? reader->next_bytes : 0;
}

static const struct json_handler handler = {
	.begin = on_begin,
	.end = on_end,
	.key = on_key,
	.text = on_text,
	.number = on_number,
	.literal = on_literal,
	.next = on_next,
};

/* ---- lines ---- */

static const char not_statistics[] = "not a file of dagtap's statistics";

static bool take_head(struct reader *reader)
{
	if (reader->line.values[FIELD_dagstats] != STATS_FILE_VERSION)
		return fail(reader, -EPROTONOSUPPORT);
	if (!has(&reader->line, FIELD_error))
		return refuse(reader, "the error bound is missing");
	reader->has_head = true;
	return true;
}

static bool take_key(struct reader *reader)
{
	const struct members *line = &reader->line;
	uint32_t *place, key;

	if (line->values[FIELD_key] != reader->keys_count || !has(line, FIELD_kind) ||
	    !reader->name || line->values[FIELD_node] > UINT32_MAX)
		return refuse(reader, "a key without its number, kind or name");
	key = stats_get_key(reader->stats, reader->kind, reader->name, line->values[FIELD_graph],
			    (uint32_t)line->values[FIELD_node]);
	place = table_add((void **)&reader->keys, &reader->keys_count, sizeof(*place));
	if (key == UINT32_MAX || !place)
		return fail(reader, -ENOMEM);
	*place = key;
	return true;
}

static void take_interval(struct reader *reader)
{
	struct stats_reading *reading = reader->reading;
	uint64_t begin_ns = reader->line.values[FIELD_begin_ns];
	uint64_t end_ns = reader->line.values[FIELD_end_ns];

	if (!reading->intervals++ || begin_ns < reading->begin_ns)
		reading->begin_ns = begin_ns;
	if (end_ns > reading->end_ns)
		reading->end_ns = end_ns;
}

static bool take_process(struct reader *reader)
{
	return table_add((void **)&reader->deliveries, &reader->deliveries_count,
			 sizeof(*reader->deliveries)) ||
	       fail(reader, -ENOMEM);
}

/* The counts are those since the begin: the last line of a process counts. */
static bool take_deliveries(struct reader *reader)
{
	const uint64_t *values = reader->line.values;

	if (values[FIELD_deliveries] >= reader->deliveries_count)
		return refuse(reader, "deliveries of a process without a line");
	reader->deliveries[values[FIELD_deliveries]] = (struct stat_deliveries){.is_known = true,
#define X(name, help) .name = values[FIELD_##name],
										STAT_DELIVERIES(X)
#undef X
	};
	return true;
}

static bool take_line(struct reader *reader)
{
	struct stats_reading *reading = reader->reading;
	const uint64_t *values = reader->line.values;

	if (!reader->has_head && reader->first != FIELD_dagstats)
		return refuse(reader, not_statistics);
	switch (reader->first) {
	case FIELD_dagstats:
		return take_head(reader);
	case FIELD_process:
		reading->processes++;
		return take_process(reader);
	case FIELD_deliveries:
		return take_deliveries(reader);
	case FIELD_key:
		return take_key(reader);
	case FIELD_interval:
		take_interval(reader);
		return true;
	case FIELD_outlier:
		reading->outliers++;
		reading->snapshots += has(&reader->line, FIELD_file);
		return true;
	case FIELD_end:
		reading->processes_ended++;
		reading->lost += values[FIELD_lost];
		reading->dropped += values[FIELD_dropped];
		reading->no_writer += values[FIELD_no_writer];
		reading->cut_off += values[FIELD_cut_off];
		reading->left_out += values[FIELD_left_out];
		return true;
	default: /* a kind of line of a later dagtap */
		return true;
	}
}

/* Reads a line. Returns 0, -EBADMSG with the cause in reader->cause, or another error. */
static int read_line(struct reader *reader, const char *text, size_t bytes)
{
	struct json_stop stop = {.cause = ""};
	int err;

	reader->next = text;
	reader->next_bytes = bytes;
	reader->place = PLACE_OUTSIDE;
	reader->skipped = 0;
	reader->has_first = false;
	reader->first = FIELD_COUNT;
	reader->line = (struct members){0};
	err = json_read(&handler, reader, &stop);
	sketch_release(&reader->sketch);
	if (err == -EBADMSG)
		refuse(reader, reader->has_head ? stop.cause : not_statistics);
	else if (err == 0)
		take_line(reader);
	else if (err != -ECANCELED)
		reader->error = err;
	free(reader->name);
	reader->name = NULL;
	if (reader->error)
		return reader->error;
	return reader->cause ? -EBADMSG : 0;
}

/* Reads the lines of IN. The last one may be cut off: its process was killed meanwhile. */
static int read_lines(struct reader *reader, FILE *in, const char *path, struct dagtap_error *error)
{
	unsigned long long number = 0;
	size_t room = 0;
	ssize_t bytes;
	char *text = NULL;
	int err = 0;

	while (err == 0 && (bytes = getline(&text, &room, in)) > 0) {
		number++;
		if (text[bytes - 1] != '\n') {
			reader->reading->cut_lines++;
			break;
		}
		err = read_line(reader, text, (size_t)bytes);
	}
	free(text);
	if (err == 0 && ferror(in))
		return dagtap_error_set(error, -EIO, "%s: cannot be read", path);
	if (err == 0 && !reader->has_head)
		return dagtap_error_set(error, -EBADMSG, "%s: %s", path, not_statistics);
	if (err == -EBADMSG)
		return dagtap_error_set(error, err, "%s: line %llu: %s", path, number,
					reader->cause);
	if (err == -EPROTONOSUPPORT)
		return dagtap_error_set(error, err, "%s: statistics of version %llu, not %d", path,
					(unsigned long long)reader->line.values[FIELD_dagstats],
					STATS_FILE_VERSION);
	return err < 0 ? dagtap_error_set(error, err, "%s: out of memory", path) : 0;
}

int stats_read_stream(FILE *in, const char *name, struct stats *stats,
		      struct stats_reading *reading, struct dagtap_error *error)
{
	struct reader reader = {.stats = stats, .reading = reading};
	int err = read_lines(&reader, in, name, error);

	for (uint32_t i = 0; i < reader.deliveries_count; i++)
		stats_add_deliveries(&reading->deliveries, &reader.deliveries[i]);
	free(reader.deliveries);
	free(reader.keys);
	reading->files += err == 0;
	return err;
}
