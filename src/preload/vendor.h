/* What virtual executables need of a vendor's graph API: one table of functions for HIP and one for
 * CUDA. All functions call the driver, never our wrappers. They return the driver's result, of
 * which 0 is success. */
#ifndef DAGPATCH_PRELOAD_VENDOR_H
#define DAGPATCH_PRELOAD_VENDOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one node two things are set independently: its parameters, and whether it is enabled. */
enum cell_kind { CELL_PARAMS, CELL_ENABLED, CELL_KINDS };

/* HIP and CUDA have the same numbers. */
enum vendor_capture_mode { VENDOR_CAPTURE_GLOBAL = 0, VENDOR_CAPTURE_RELAXED = 2 };

struct preload_vendor {
	int (*graph_clone)(void **ret_clone, void *graph);
	int (*graph_destroy)(void *graph);
	/* NODES may be NULL; *COUNT is the capacity, then the number of nodes. The order is the
	 * same for a graph and its clone. */
	int (*graph_nodes)(void *graph, void **nodes, size_t *count);
	/* Fills the type of NODE, and the child graph that it has, or NULL. Of two nodes with one
	 * place in a graph and its clone, the types are equal. */
	int (*node_type)(void *node, uint32_t *ret_type, void **ret_child);
	/* Whether NODE may name a function of MODULE. NULL: not known of any. */
	bool (*may_name)(void *node, void *module);
	int (*instantiate)(void **ret_exec, void *graph, unsigned long long flags);
	int (*exec_destroy)(void *exec);
	int (*launch)(void *exec, void *stream);
	int (*event_create)(void **ret_event);
	int (*event_destroy)(void *event);
	int (*event_record)(void *event, void *stream);
	int (*stream_wait)(void *stream, void *event);
	/* Makes the noted call again that DATA describes (struct note), on NODE of EXEC. CHILD has
	 * the contents of the child graph, if the call sets one. */
	int (*apply)(const void *data, void *child, void *exec, void *node);
	/* Whether work that is submitted to STREAM is captured, or is part of a failed capture. */
	bool (*is_capturing)(void *stream);
	/* The calling thread's device or context. */
	uintptr_t (*device_current)(void);
	void (*device_set)(uintptr_t device);
	/* Gives the thread another mode of captures (enum vendor_capture_mode); *MODE is then the
	 * one before. */
	int (*exchange_capture_mode)(int *mode);
	/* Called when a call that the program has not made has failed: the error that the runtime
	 * keeps for the thread is not the program's. May be NULL. */
	void (*forget_error)(void);
};

/* ---- vendor.c ---- */

/* Makes DEVICE the thread's. Returns what was before, for vendor_leave. */
uintptr_t vendor_enter(const struct preload_vendor *vendor, uintptr_t device);
void vendor_leave(const struct preload_vendor *vendor, uintptr_t before);

/* From relax to unrelax, which gets the result, the thread's calls do not end captures of other
 * streams. */
int vendor_relax(const struct preload_vendor *vendor);
void vendor_unrelax(const struct preload_vendor *vendor, int mode);

#endif
