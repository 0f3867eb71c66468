/* Which steps of CUDA graphs still matter: a pure function on an array of steps. */
#ifndef DAGTAP_CAPTURE_CUDA_GRAPH_LIVES_H
#define DAGTAP_CAPTURE_CUDA_GRAPH_LIVES_H

#include <stdint.h>

#include "record/record_cuda.h"

/* Removes from the COUNT STEPS, which are in the order of time with their steps as tags, those that
 * concern destroyed graphs and execs only: of a graph that is gone, and of which no exec, clone or
 * parent is left. The clone that an exec runs is gone with the exec. Returns how many are left;
 * COUNT, with nothing removed, if memory is short. */
uint32_t graph_lives_purge(struct record_cuda_graph *steps, uint32_t count);

#endif
