/* Stream captures during a walk through calls (see captures.h). */
#include "trace/graph/captures.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/row_table.h"
#include "trace/trace_model.h"

int captures_init(struct captures *captures, uint32_t stream_count)
{
	struct capture *none;

	*captures = (struct captures){
		.of_stream = calloc((size_t)stream_count + 1, sizeof(*captures->of_stream)),
		.is_foreseen = calloc((size_t)stream_count + 1, sizeof(*captures->is_foreseen)),
		.stream_count = stream_count,
	};
	none = table_add((void **)&captures->rows, &captures->count, sizeof(*none));
	if (!captures->of_stream || !captures->is_foreseen || !none)
		return -ENOMEM;
	*none = (struct capture){.origin = TRACE_NONE, .has_ended = true};
	return 0;
}

void captures_release(struct captures *captures)
{
	free(captures->of_stream);
	free(captures->is_foreseen);
	free(captures->rows);
}

int captures_foresee(struct captures *captures, uint32_t stream, bool is_end)
{
	if (stream >= captures->stream_count || captures->is_foreseen[stream])
		return 0;
	captures->is_foreseen[stream] = true;
	return is_end ? captures_begin(captures, stream) : 0;
}

int captures_begin(struct captures *captures, uint32_t stream)
{
	struct capture *row;

	if (stream >= captures->stream_count)
		return 0;
	row = table_add((void **)&captures->rows, &captures->count, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->origin = stream;
	captures->of_stream[stream] = captures->count - 1;
	return 0;
}

void captures_end(struct captures *captures, uint32_t stream)
{
	struct capture *row;

	if (stream >= captures->stream_count)
		return;
	row = &captures->rows[captures->of_stream[stream]];
	row->has_ended |= row->origin == stream;
}

/* The capture that STREAM is in now, 0 = none. */
static uint32_t capture_of(const struct captures *captures, uint32_t stream)
{
	uint32_t capture = stream < captures->stream_count ? captures->of_stream[stream] : 0;

	return captures->rows[capture].has_ended ? 0 : capture;
}

bool captures_record(const struct captures *captures, uint32_t stream, bool is_node,
		     uint32_t *event_capture)
{
	uint32_t capture = capture_of(captures, stream);

	if (!capture || !is_node)
		*event_capture = capture;
	return capture;
}

bool captures_wait(struct captures *captures, uint32_t stream, bool is_node, uint32_t event_capture)
{
	if (is_node && capture_of(captures, stream))
		return true;
	if (captures->rows[event_capture].has_ended)
		return false;
	if (stream < captures->stream_count && !capture_of(captures, stream))
		captures->of_stream[stream] = event_capture;
	return true;
}
