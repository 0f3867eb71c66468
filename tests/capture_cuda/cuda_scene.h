/* Scenes, and the traces that come of them. A scene runs in a process of its own and reports what it
 * finds wrong with expect(). */
#ifndef TESTS_CUDA_SCENE_H
#define TESTS_CUDA_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "cuda_play.h"
#include "in_child.h"
#include "trace/model.h"

int InitializeInjection(void);

/* Loads the tool as CUDA's driver does. */
void play_start(void);

enum { GRAPH = 5, EXEC = 20, EXEC_GRAPH = 30 };

/* Three kernels in a row, each made under its layer; the exec's nodes are clones: 11 to 13, 101 to 103. */
void play_layers(void);
void play_instantiate(void);

/* Plays the scene in a child, asserts that it found nothing wrong, loads what it recorded. */
struct trace *play_scene(const struct fixture *fixture, void (*scene)(void));

/* Things of a trace; asserting that they are there. */
const struct trace_activity *play_find_kernel(const struct trace *trace, const char *name);
const struct trace_source *play_source(const struct trace *trace, const char *name);
void play_assert_closed(const struct trace *trace);

#endif
