/*
 * Runs CUDA test scenes, each in a child process, and loads the traces that they record. A scene
 * reports failures with expect().
 */
#ifndef TESTS_CUDA_SCENE_H
#define TESTS_CUDA_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "cuda_play.h"
#include "in_child.h"
#include "trace/trace_model.h"

/* The tool's entry point, which CUDA's driver calls after loading it. */
int InitializeInjection(void);

/* Loads the tool as CUDA's driver does, through InitializeInjection. */
void play_start(void);
/* The same with DAGTAP_CALLS=all: calls have rows whatever their numbers are. */
void play_start_with_all_calls(void);

enum { GRAPH = 5, EXEC = 20, EXEC_GRAPH = 30 };

/*
 * Plays three kernels in a row, each launched under its own layer's scope. The executable graph's
 * nodes are clones: nodes 11 to 13 become 101 to 103.
 */
void play_layers(void);
void play_instantiate(void);

/* Plays SCENE in a child, asserts that it succeeded, and loads the trace that it recorded. */
struct trace *play_scene(const struct fixture *fixture, void (*scene)(void));

/* Find a row of a trace; assert that it exists. */
const struct trace_activity *play_find_kernel(const struct trace *trace, const char *name);
const struct trace_source *play_source(const struct trace *trace, const char *name);
void play_assert_closed(const struct trace *trace);

#endif
