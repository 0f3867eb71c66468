/* What the files of the model of CUPTI share; tests use model_cupti.h. */
#ifndef TESTS_MODEL_CUPTI_INNER_H
#define TESTS_MODEL_CUPTI_INNER_H

#include "model_cupti.h"

/* Counts a call of CALL. Returns what it must return: CUPTI_OK, or what model_fail has set. */
uint32_t model_result_of(enum model_call call);

/* Holds the calling thread while PLACE is held. */
void model_come_to(enum model_place place);

/* Returns whether the tool has enabled this kind of records. */
bool model_is_kind_enabled(uint32_t kind);

/* Sets the tool's functions for buffers. */
void model_buffers_register(cupti_buffer_requested *requested, cupti_buffer_completed *completed);

/* Returns the number of records that were dropped since the last call of this function. */
size_t model_buffers_take_dropped(void);

#endif
