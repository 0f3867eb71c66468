/* The wrappers of calls that make, change and destroy graphs: they make the program's call, and
 * raise the versions of graphs (graph_versions.h). */
#include <string.h>

#include "preload/cuda_real.h"
#include "preload/graph_versions.h"
#include "preload/passing.h"

/* Makes the program's call. Functions of the driver may call each other by their exported names;
 * what they make in between is not the program's. */
#define PASS(name, arguments)                                                                      \
	({                                                                                         \
		__typeof__(&(name)) real_ = CUDA_REAL(name);                                       \
		int result_;                                                                       \
                                                                                                   \
		virtual_inner_begin();                                                             \
		result_ = real_ ? real_ arguments : DOOR_NOT_FOUND;                                \
		virtual_inner_end();                                                               \
		result_;                                                                           \
	})

#define MAKING(name, parameters, arguments)                                                        \
	int name parameters                                                                        \
	{                                                                                          \
		int err = PASS(name, arguments);                                                   \
                                                                                                   \
		if (err == CUDA_OK && virtual_is_on())                                             \
			graph_made(*made);                                                         \
		return err;                                                                        \
	}
CUDA_MAKING_DOORS(MAKING)

/* A call that fails may have changed something, too. */
#define CHANGING(name, parameters, arguments)                                                      \
	int name parameters                                                                        \
	{                                                                                          \
		int err = PASS(name, arguments);                                                   \
                                                                                                   \
		if (virtual_is_on())                                                               \
			graph_changes(graph);                                                      \
		return err;                                                                        \
	}
CUDA_CHANGING_DOORS(CHANGING)

static void move_child(const struct cuda_node_params *params)
{
	if (params && params->type == CUDA_NODE_GRAPH && params->u.child.ownership != 0)
		graph_moved(params->u.child.graph);
}

#define MOVING(name, parameters, arguments)                                                        \
	int name parameters                                                                        \
	{                                                                                          \
		bool is_program = virtual_is_on();                                                 \
		int err;                                                                           \
                                                                                                   \
		if (is_program)                                                                    \
			move_child(params);                                                        \
		err = PASS(name, arguments);                                                       \
		if (is_program)                                                                    \
			graph_changes(graph);                                                      \
		return err;                                                                        \
	}
CUDA_MOVING_DOORS(MOVING)

#define SETTING(name, parameters, arguments)                                                       \
	int name parameters                                                                        \
	{                                                                                          \
		int err = PASS(name, arguments);                                                   \
                                                                                                   \
		if (virtual_is_on())                                                               \
			graph_any_changes();                                                       \
		return err;                                                                        \
	}
CUDA_NODE_DOORS(SETTING)

/* ---- captures ---- */

/* Counted before the call: another stream may be captured as well as soon as it has returned. */
#define BEGINNING(name, parameters, arguments)                                                     \
	int name parameters                                                                        \
	{                                                                                          \
		int err;                                                                           \
                                                                                                   \
		cuda_capture_begins();                                                             \
		err = PASS(name, arguments);                                                       \
		if (err != CUDA_OK)                                                                \
			cuda_capture_ended();                                                      \
		return err;                                                                        \
	}
CUDA_BEGINNING_DOORS(BEGINNING)

/* A recapture that fails may have changed the graph. */
#define CAPTURING(name, parameters, arguments)                                                     \
	int name parameters                                                                        \
	{                                                                                          \
		int err;                                                                           \
                                                                                                   \
		cuda_capture_begins();                                                             \
		err = PASS(name, arguments);                                                       \
		if (err != CUDA_OK)                                                                \
			cuda_capture_ended();                                                      \
		if (virtual_is_on())                                                               \
			(err == CUDA_OK ? graph_capture_begins : graph_changes)(graph);            \
		return err;                                                                        \
	}
CUDA_CAPTURING_DOORS(CAPTURING)

/* After a failure nobody knows whether the capture has ended, so a graph into which the stream was
 * captured has no version any more. */
#define CAPTURED(name, parameters, arguments)                                                      \
	int name parameters                                                                        \
	{                                                                                          \
		int err = PASS(name, arguments);                                                   \
                                                                                                   \
		if (err == CUDA_OK)                                                                \
			cuda_capture_ended();                                                      \
		if (err == CUDA_OK && graph && virtual_is_on())                                    \
			graph_capture_ended(*graph);                                               \
		return err;                                                                        \
	}
CUDA_CAPTURED_DOORS(CAPTURED)

#define ENDING(name, parameters, arguments)                                                        \
	int name parameters                                                                        \
	{                                                                                          \
		int err = PASS(name, arguments);                                                   \
                                                                                                   \
		if (err == CUDA_OK)                                                                \
			cuda_capture_ended();                                                      \
		return err;                                                                        \
	}
CUDA_ENDING_DOORS(ENDING)

/* ---- contexts ---- */

/* Their functions are destroyed, too. */
#define DESTROYING(name, parameters, arguments)                                                    \
	int name parameters                                                                        \
	{                                                                                          \
		int err;                                                                           \
                                                                                                   \
		if (virtual_is_on())                                                               \
			graph_all_gone();                                                          \
		cuda_forget_functions(NULL);                                                       \
		err = PASS(name, arguments);                                                       \
		cuda_memory_ended();                                                               \
		return err;                                                                        \
	}
CUDA_CONTEXT_DOORS(DESTROYING)
