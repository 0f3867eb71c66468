/* Inside trace/: what a call of HIP's owes the GPU, by what it is and was given.
 *
 * A kernel launch that succeeded brings one dispatch, one on each device it names; a launch of an
 * empty grid, and one into a stream that is being captured, bring none. No device has to be asked
 * for this: it is the witness that every machine has (ledger_launches.c). Graph launches owe what
 * their nodes say (expect.h). Copies and fills owe nothing that can be told: the runtime may do
 * them on the host. */
#ifndef DAGTAP_TRACE_OWED_H
#define DAGTAP_TRACE_OWED_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "trace/model.h"

struct process_load;

#define OWED_SIZES_MOST 6 /* of the grid and of a workgroup */

/* What an API owes, worked out once an API. */
struct owed_api {
	bool is_launch;	    /* of a kernel, by HIP */
	uint8_t count_word; /* argument that says on how many devices; OWED_ONE: on one */
	uint8_t size_count;
	struct {
		uint8_t word, shift; /* 32 bits of an argument */
	} sizes[OWED_SIZES_MOST];    /* nothing is launched when one of them is 0 */
};

#define OWED_ONE UINT8_MAX

struct owed_api owed_api_of(const struct trace *trace, const struct trace_api *api);

/* Dispatches that the call owes unless it was captured; more than 255 are said to be 255. */
uint8_t owed_by(const struct owed_api *api, const struct record_api *record);

/* Takes back what is owed by calls that were captured, or that launched through another launch.
 * Call when all calls have their parents. */
void owed_settle(struct process_load *load);

#endif
