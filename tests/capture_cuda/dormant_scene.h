/* CUDA graphs that are made while nothing is recorded. CUPTI is played. */
#ifndef DAGTAP_TESTS_CAPTURE_CUDA_DORMANT_SCENE_H
#define DAGTAP_TESTS_CAPTURE_CUDA_DORMANT_SCENE_H

#include "cuda_scene.h"

/* The number of the last launch. */
extern uint32_t dormant_launches;

/* In the child: CUDA starts, and nothing is recorded but ranges named "step". */
void dormant_start(void);

/* In the child: one recording, in which the graph runs COUNT times. */
void dormant_record(uint32_t count);

/* In the child: the program destroys an exec, or a graph. */
void dormant_exec_gone(uint32_t id);
void dormant_graph_gone(uint32_t id);

/* Every activity of the COUNT ones is of a node of a graph with three nodes and two edges. */
void dormant_assert_known(const struct trace *trace, uint32_t count);

#endif
