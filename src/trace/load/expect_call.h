/* Inside trace/: how many dispatches a call of HIP must cause, by its API and its arguments.
 *
 * A kernel launch that succeeded causes one dispatch on each device that it names. A launch of an
 * empty grid, and a launch into a stream that is being captured, cause none. This needs no counter
 * of a device, so it is the witness that every machine has (ledger_launches.c). What graph launches
 * must cause follows from their nodes (expect.h). For copies and fills nothing can be expected: the
 * runtime may do them on the host. */
#ifndef DAGTAP_TRACE_EXPECT_CALL_H
#define DAGTAP_TRACE_EXPECT_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "trace/trace_model.h"

struct process_load;

#define EXPECT_CALL_SIZES_MOST 6 /* the three sizes of the grid and of a workgroup */

/* What an API must cause. Computed once per API. */
struct expect_call {
	bool is_launch; /* a kernel launch of HIP */
	/* Word of the argument that holds the number of devices; EXPECT_CALL_ONE: one device. */
	uint8_t count_word;
	uint8_t size_count;
	/* The launch causes nothing if one of these sizes is 0. */
	struct {
		uint8_t word, shift; /* 32 bits of an argument: word, lowest bit */
	} sizes[EXPECT_CALL_SIZES_MOST];
};

#define EXPECT_CALL_ONE UINT8_MAX

/* What API must cause; is_launch is false for everything but kernel launches of HIP. */
struct expect_call expect_call_of(const struct trace *trace, const struct trace_api *api);

/* Number of dispatches that the call of RECORD must cause if it is not captured, 255 at most. */
uint8_t expect_call_count(const struct expect_call *api, const struct record_api *record);

/* Clears load->tally.expected of calls that were captured, and of calls around another launch,
 * which causes the dispatches. Call when all calls have their parents. */
void expect_calls_settle(struct process_load *load);

#endif
