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

/*
 * A case whose state is a struct fixture (spool_fixture.h). Its end closes the traces that
 * play_scene has returned.
 */
int play_teardown(void **state);
#define PLAY_CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, play_teardown)

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
/* Loads the tool and plays both. */
void play_start_with_graph(void);
/* Plays a replay's three kernels, all called NAME, of the nodes from FIRST on. */
void play_replay(uint32_t correlation, uint32_t exec, uint64_t first, const char *name);

/*
 * Plays SCENE in a child, asserts that it succeeded, and loads the trace that it recorded. Each
 * scene of a case records to a new, empty folder. The case's end closes the trace.
 */
struct trace *play_scene(struct fixture *fixture, void (*scene)(void));

/* Find a row of a trace; assert that it exists. */
const struct trace_activity *play_find_kernel(const struct trace *trace, const char *name);
const struct trace_source *play_source(const struct trace *trace, const char *name);
/* Returns the event record that the wait in row WAIT is for; asserts that there is one. */
const struct trace_event_record *play_producer(const struct trace *trace, uint32_t wait);
/* Returns whether the ledger's line called LINE has TEXT in its text. */
bool play_line_says(const struct trace *trace, const char *line, const char *text);
void play_assert_closed(const struct trace *trace);

#endif
