/* Which of CUPTI's streams a handle stands for; see cuda_streams.h. */
#include "capture/cuda/cuda_streams.h"

#include <stdbool.h>
#include <stddef.h>

#include "capture/capture_session.h"
#include "capture/cuda/cupti.h"
#include "capture/handle_map.h"
#include "record/stream_handles.h"

/* What is known of a stream, in one word: a value of a handle_map. */
union known {
	struct {
		uint64_t stream : 32, context : 16; /* CUPTI's numbers */
		/* The recording in which they were learned: CUPTI reports no stream that is made or
		 * destroyed between two recordings. */
		uint64_t session : 15;
		uint64_t is_told : 1; /* the recording has the numbers */
	};
	uint64_t word; /* 0: nothing is known */
};

_Static_assert(sizeof(union known) == sizeof(uint64_t), "a word");
_Static_assert(CUDA_STREAM_LEGACY == STREAM_HANDLE_LEGACY &&
		       CUDA_STREAM_PER_THREAD == STREAM_HANDLE_PER_THREAD,
	       "readers know them");

static struct handle_map streams = HANDLE_MAP_INIT;

/* The default streams that the calling thread used last. */
static __thread union known legacy __attribute__((tls_model("initial-exec")));
static __thread union known per_thread __attribute__((tls_model("initial-exec")));

/* Returns all 0 if CUPTI does not say the stream's number. A context whose number does not fit has
 * none. */
static union known ask(void *context, uint32_t context_number, void *stream, bool is_per_thread,
		       uint32_t *ret_result)
{
	uint32_t number = 0;
	union known known = {
		.context = context_number,
		.session = session_current_number(),
	};

	*ret_result = cupti.get_stream_id(context, stream, is_per_thread, &number);
	known.stream = number;
	return *ret_result == CUPTI_OK && known.context == context_number
		       ? known
		       : (union known){.word = 0};
}

/* Whether KNOWN was learned in this recording. */
static bool is_current(union known known)
{
	union known now = {.session = session_current_number()};

	return known.word && known.session == now.session;
}

void cuda_streams_made(void *context, void *stream)
{
	uint32_t number, result;
	union known known;

	if ((uintptr_t)stream <= CUDA_STREAM_PER_THREAD ||
	    cupti.get_context_id(context, &number) != CUPTI_OK)
		return;
	known = ask(context, number, stream, false, &result);
	if (known.word)
		handle_map_put(&streams, (uintptr_t)stream, known.word);
}

void cuda_streams_gone(void *stream)
{
	if (stream)
		handle_map_take(&streams, (uintptr_t)stream);
}

static void tell(uint64_t handle, uint64_t begin_ns, union known *known)
{
	const struct record_cuda_stream_handle record = {
		.handle = handle,
		.ns = begin_ns,
		.context = known->context,
	};

	writer_put(session_writer(), RECORD_CUDA_STREAM_HANDLE, known->stream, &record,
		   sizeof(record));
	known->is_told = 1;
}

/* A default stream belongs to the context of the call, and perhaps to the thread. */
static uint32_t use_default(bool is_per_thread, uint64_t begin_ns,
			    const struct cupti_callback_data *call)
{
	union known *known = is_per_thread ? &per_thread : &legacy;
	uint32_t result;

	if (is_current(*known) && known->context == call->contextUid)
		return call->contextUid;
	*known = ask(call->context, call->contextUid, NULL, is_per_thread, &result);
	cupti_note(CUPTI_FAILURE_STREAM_IDS, result);
	if (known->word)
		tell(is_per_thread ? CUDA_STREAM_PER_THREAD : 0, begin_ns, known);
	return call->contextUid;
}

uint32_t cuda_streams_use(uint64_t handle, uint64_t begin_ns,
			  const struct cupti_callback_data *call)
{
	union known known;
	uint32_t result;

	if (handle <= CUDA_STREAM_PER_THREAD)
		return use_default(handle == CUDA_STREAM_PER_THREAD, begin_ns, call);
	known.word = handle_map_get(&streams, handle);
	/* A stream that was made before the recording. CUPTI says whether it is of the call's
	 * context. */
	if (!is_current(known) && call->context)
		known = ask(call->context, call->contextUid, (void *)(uintptr_t)handle, false,
			    &result);
	if (!is_current(known))
		return 0;
	if (!known.is_told) {
		tell(handle, begin_ns, &known);
		handle_map_put(&streams, handle, known.word);
	}
	return known.context;
}

void cuda_streams_forget(void)
{
	handle_map_reset(&streams);
}
