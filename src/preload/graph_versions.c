/* Versions of graphs. One counter gives all numbers, so the later one of two changes has the
 * greater number. */
#include "preload/graph_versions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "preload/handle_table.h"

/* Added to the number of captures into a graph; versions are smaller. */
#define CAPTURES ((uint64_t)1 << 63)

/* The number of a graph's last change, or CAPTURES + the number of captures. */
static struct handle_table graphs;
static struct handle_table inside; /* graphs without a version: captures into them */
static uint64_t inside_count;	   /* number of these; while there are any, nothing has a version */
static uint64_t last;		   /* number of the last change of all */
static uint64_t any;		   /* number of the last change of a graph without a version */
static _Atomic bool is_off;	   /* for good; written without the lock, too */
static _Atomic bool is_used;	   /* false: no graph has been made, so nothing need be done */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t value_of(const struct handle_table *table, void *graph)
{
	const struct handle_entry *entry = handle_table_find(table, graph);

	return entry ? entry->value : 0;
}

/* Without memory nothing has a version any more. */
static void put(struct handle_table *table, void *graph, uint64_t value)
{
	if (handle_table_put(table, graph, value) < 0)
		is_off = true;
}

uint64_t graph_version(void *graph)
{
	uint64_t version;

	pthread_mutex_lock(&lock);
	version = is_off || inside_count > 0 ? 0 : value_of(&graphs, graph);
	if (version >= CAPTURES)
		version = 0;
	if (version && version < any)
		version = any;
	pthread_mutex_unlock(&lock);
	return version;
}

void graph_made(void *graph)
{
	if (!graph)
		return;
	pthread_mutex_lock(&lock);
	is_used = true;
	put(&graphs, graph, ++last);
	pthread_mutex_unlock(&lock);
}

void graph_changes(void *graph)
{
	uint64_t value;

	if (!is_used)
		return;
	pthread_mutex_lock(&lock);
	value = value_of(&graphs, graph);
	last++;
	if (!value)
		any = last;
	else if (value < CAPTURES)
		put(&graphs, graph, last);
	pthread_mutex_unlock(&lock);
}

void graph_any_changes(void)
{
	if (!is_used)
		return;
	pthread_mutex_lock(&lock);
	any = ++last;
	pthread_mutex_unlock(&lock);
}

void graph_gone(void *graph)
{
	if (!is_used)
		return;
	pthread_mutex_lock(&lock);
	handle_table_remove(&graphs, graph);
	inside_count -= handle_table_remove(&inside, graph);
	pthread_mutex_unlock(&lock);
}

void graph_moved(void *graph)
{
	uint64_t value;

	if (!is_used)
		return;
	pthread_mutex_lock(&lock);
	value = handle_table_remove(&graphs, graph);
	if (value > CAPTURES) {
		put(&inside, graph, value_of(&inside, graph) + value - CAPTURES);
		inside_count += value - CAPTURES;
	}
	pthread_mutex_unlock(&lock);
}

void graph_capture_begins(void *graph)
{
	uint64_t value;

	if (!graph)
		return;
	pthread_mutex_lock(&lock);
	is_used = true;
	value = value_of(&graphs, graph);
	if (value) {
		put(&graphs, graph, value < CAPTURES ? CAPTURES + 1 : value + 1);
	} else {
		put(&inside, graph, value_of(&inside, graph) + 1);
		inside_count++;
	}
	pthread_mutex_unlock(&lock);
}

void graph_capture_ended(void *graph)
{
	uint64_t value, captures;

	if (!graph)
		return;
	pthread_mutex_lock(&lock);
	is_used = true;
	value = value_of(&graphs, graph);
	captures = value_of(&inside, graph);
	last++;
	if (captures) {
		put(&inside, graph, captures - 1);
		inside_count--;
		any = last;
	} else {
		put(&graphs, graph, value > CAPTURES + 1 ? value - 1 : last);
	}
	pthread_mutex_unlock(&lock);
}

void graph_all_gone(void)
{
	if (!is_used)
		return;
	pthread_mutex_lock(&lock);
	handle_table_clear(&graphs);
	any = ++last;
	pthread_mutex_unlock(&lock);
}

void graph_unknown_call(void)
{
	is_off = true;
}
