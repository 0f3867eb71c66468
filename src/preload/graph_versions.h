/* Versions of the program's graphs: tell whether a graph that was read may have changed since.
 *
 * Every call that changes a graph is wrapped (cuda_graphs.c) and raises versions here. A version is
 * a number that no other state of any graph has, so it is also safe when a handle is used again.
 *
 * A graph has a version if we know the call that made it, and that no change of it can have been
 * missed. Graphs inside of others (child graphs, bodies) have none: their handles come and go with
 * the graphs around them. A change of such a graph, or one of which only the node is named, gives
 * all graphs new versions.
 *
 * The calls for changes are made before the driver's call or after it, but before the program's
 * call returns: a program that changes a graph in one thread and uses it in another one has to
 * order the two.
 *
 * Threading: any thread. */
#ifndef DAGPATCH_PRELOAD_GRAPH_VERSIONS_H
#define DAGPATCH_PRELOAD_GRAPH_VERSIONS_H

#include <stdint.h>

/* Returns the version of GRAPH with all that is inside of it, or 0: it has none. */
uint64_t graph_version(void *graph);

/* The program has made GRAPH, by a call after which all changes are known. */
void graph_made(void *graph);

/* GRAPH changes: nodes or edges are added or removed. */
void graph_changes(void *graph);

/* A node changes, or is destroyed, whose graph the call does not name. */
void graph_any_changes(void);

/* GRAPH is destroyed, or moved into another one: call these before the driver's call. A stream that
 * is captured into a moved graph goes on changing it there. */
void graph_gone(void *graph);
void graph_moved(void *graph);

/* A stream begins to be captured into GRAPH, and has ended successfully. In between, any call may
 * add nodes, so GRAPH has no version. If no graph of this handle began, a plain capture has made
 * GRAPH. */
void graph_capture_begins(void *graph);
void graph_capture_ended(void *graph);

/* No graph that has been made has a version any more: a context is destroyed. */
void graph_all_gone(void);

/* The program may change graphs by a call that is not wrapped: no graph has a version any more, for
 * good. Takes no lock: a forked child may call it, too. */
void graph_unknown_call(void);

#endif
