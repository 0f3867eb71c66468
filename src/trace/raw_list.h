/* Inside trace/: lists of copied records. Records of infrequent types are kept in a list for each
 * type until their process is loaded. Threading: a list belongs to one thread while it changes. */
#ifndef DAGTAP_TRACE_RAW_LIST_H
#define DAGTAP_TRACE_RAW_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "record/record.h"
#include "trace/pack/origin.h"

/* A record of an infrequent type. */
struct raw {
	const void *record; /* a copy, in the list's memory */
	uint32_t tid;	    /* of the thread that wrote the record */
	uint64_t order;	    /* origin_walk.order: ascends by (writer, time of writing) */
};

struct raw_block;

/* The records of one type. Zero is an empty list. */
struct raw_list {
	struct raw *rows;
	uint32_t count;
	struct raw_block *blocks;
};

/* Appends a copy of RECORD, because a record that is read once, in order, is not mapped for long.
 * WALK is the walk that returned it. Returns 0 or -ENOMEM. */
int raw_add(struct raw_list *list, const struct record_header *record,
	    const struct origin_walk *walk);

/* Makes room for COUNT records in LIST, which is zero, for raw_append. Returns 0 or -ENOMEM. */
int raw_make_room(struct raw_list *list, uint64_t count);

/* Appends COUNT records of FROM, from number FIRST on, to LIST, which has room for them; FROM keeps
 * their memory. Nothing may be added to LIST by raw_add. */
void raw_append(struct raw_list *list, const struct raw_list *from, uint32_t first, uint32_t count);

/* Gives the memory of FROM's records to LIST; FROM becomes empty. */
void raw_take_memory(struct raw_list *list, struct raw_list *from);

/* Frees the list's records and makes it empty. */
void raw_release(struct raw_list *list);

/* Sorts LIST by ascending KEY; equal keys keep their order. Returns 0, or -ENOMEM with LIST
 * unchanged. */
int raw_sort(struct raw_list *list, uint64_t (*key)(const struct raw *row));

/* A key for raw_sort: brings records into the order of (writer, time of writing). */
uint64_t raw_order(const struct raw *row);

/* Index of the last row whose key is at most KEY, or -1. LIST must be sorted by KEY_OF. */
int64_t raw_find(const struct raw_list *list, uint64_t key,
		 uint64_t (*key_of)(const struct raw *row));

#endif
