/*
 * Builds XSpaces by hand as another tool would write them: planes in any order, a plane's metadata
 * names after its lines.
 *
 * maker_plane(&maker, "/device:GPU:0", 0);
 * maker_line(&maker, 14, "Stream #14(Compute)", 1000);
 * maker_event(&maker, "kernel", 500000, 2000000, STATS(U64("correlation_id", 7)));
 * maker_finish(&maker);
 */
#ifndef DAGTAP_TESTS_FORMAT_XSPACE_MAKER_H
#define DAGTAP_TESTS_FORMAT_XSPACE_MAKER_H

#include <stdint.h>

#include "wire/proto.h"

enum { MAKER_NAMES_MOST = 256 };

struct maker_stat {
	const char *key;
	enum {
		MAKER_U64,
		MAKER_I64,
		MAKER_DOUBLE,
		MAKER_TEXT,
		MAKER_REF,
		MAKER_BYTES,
		MAKER_NEWER
	} kind;
	uint64_t u64;
	double number;
	const char *text;
};

#define U64(name, value)                                                                           \
	{                                                                                          \
		.key = (name), .kind = MAKER_U64, .u64 = (value)                                   \
	}
#define I64(name, value)                                                                           \
	{                                                                                          \
		.key = (name), .kind = MAKER_I64, .u64 = (uint64_t)(value)                         \
	}
#define F64(name, value)                                                                           \
	{                                                                                          \
		.key = (name), .kind = MAKER_DOUBLE, .number = (value)                             \
	}
#define TEXT(name, value)                                                                          \
	{                                                                                          \
		.key = (name), .kind = MAKER_TEXT, .text = (value)                                 \
	}
/* Of a newer version of the format: a field that nobody knows, with NUMBER, follows the text. */
#define NEWER(name, value, number)                                                                 \
	{                                                                                          \
		.key = (name), .kind = MAKER_NEWER, .text = (value), .u64 = (number)               \
	}
#define REF(name, value)                                                                           \
	{                                                                                          \
		.key = (name), .kind = MAKER_REF, .text = (value)                                  \
	}
#define BYTES(name, value)                                                                         \
	{                                                                                          \
		.key = (name), .kind = MAKER_BYTES, .text = (value)                                \
	}

/* A list of stats; an element without a key ends it. */
#define STATS(...)                                                                                 \
	(const struct maker_stat[])                                                                \
	{                                                                                          \
		__VA_ARGS__,                                                                       \
		{                                                                                  \
			.key = NULL                                                                \
		}                                                                                  \
	}
#define NO_STATS                                                                                   \
	(const struct maker_stat[])                                                                \
	{                                                                                          \
		{                                                                                  \
			.key = NULL                                                                \
		}                                                                                  \
	}

struct maker_names {
	const char *rows[MAKER_NAMES_MOST]; /* index: metadata id - 1 */
	unsigned count;
};

/* The caller starts with a zeroed struct. */
struct maker {
	struct proto bytes;
	size_t plane_mark, line_mark;
	int in_plane, in_line;
	struct maker_names events, stats;
};

/* Begins a plane, which ends the one before. maker_plane_stats adds stats to the plane itself. */
void maker_plane(struct maker *maker, const char *name, int64_t id);
void maker_plane_stats(struct maker *maker, const struct maker_stat *stats);
/* Adds a stat of the scope tree, whose metadata id is CHILD and whose value is PARENT. */
void maker_pair(struct maker *maker, uint64_t child, uint64_t parent);
void maker_line(struct maker *maker, int64_t id, const char *name, int64_t timestamp_ns);
void maker_event(struct maker *maker, const char *name, uint64_t offset_ps, uint64_t duration_ps,
		 const struct maker_stat *stats);
/* Adds an event that has no offset and stands for OCCURRENCES events. */
void maker_aggregate(struct maker *maker, const char *name, uint64_t occurrences);
void maker_warning(struct maker *maker, const char *text);

/* Ends the open line and plane. The XSpace is then in maker->bytes; free it with proto_release. */
void maker_finish(struct maker *maker);

#endif
