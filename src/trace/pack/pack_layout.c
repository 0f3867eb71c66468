/* The field lists of the frequent record types (pack_layout.h).
 *
 * The key of a field is the field whose last equal value predicts it best: the geometry of a
 * dispatch depends on its kernel, the packet index on its queue. */
#include "trace/pack/pack_layout.h"

#include <stddef.h>

#include "record/record.h"

#define SIZE_OF(structure, field) sizeof(((struct structure *)0)->field)
#define FIELD(structure, field, key)                                                               \
	{                                                                                          \
		offsetof(struct structure, field), 0, SIZE_OF(structure, field), key               \
	}
#define SPAN(structure, begin, end, key)                                                           \
	{                                                                                          \
		offsetof(struct structure, begin), offsetof(struct structure, end),                \
			SIZE_OF(structure, begin), key                                             \
	}
/* The padding that the compiler adds after the LAST field. It should be zero, but it is packed like
 * a field so that records come back byte for byte. */
#define PADDING(structure, last, key)                                                              \
	{                                                                                          \
		offsetof(struct structure, last) + SIZE_OF(structure, last), 0,                    \
			sizeof(struct structure) - offsetof(struct structure, last) -              \
				SIZE_OF(structure, last),                                          \
			key                                                                        \
	}
/* The tag as field 0, without a key. In most types it is the key of the other fields (BY_TAG). */
#define TAG                                                                                        \
	{                                                                                          \
		PACK_TAG_OFFSET, 0, SIZE_OF(record_header, tag), PACK_NO_KEY                       \
	}
#define BY_TAG 0

static const struct pack_field any_fields[] = {TAG};

/* The kernel comes first because it is the key of the geometry. The queue, in the tag, is the key
 * of the packet index. */
enum { DISPATCH_KERNEL, DISPATCH_ORDINAL, DISPATCH_QUEUE };
static const struct pack_field dispatch_fields[] = {
	[DISPATCH_KERNEL] = FIELD(record_dispatch, kernel, PACK_NO_KEY),
	[DISPATCH_ORDINAL] = FIELD(record_dispatch, ordinal, PACK_NO_KEY),
	[DISPATCH_QUEUE] = FIELD(record_dispatch, header.tag, DISPATCH_KERNEL),
	FIELD(record_dispatch, packet_index, DISPATCH_QUEUE),
	FIELD(record_dispatch, cid, DISPATCH_KERNEL),
	FIELD(record_dispatch, scope, DISPATCH_KERNEL),
	FIELD(record_dispatch, ns, DISPATCH_KERNEL),
	FIELD(record_dispatch, kernel_object, DISPATCH_KERNEL),
	FIELD(record_dispatch, completion_signal, DISPATCH_KERNEL),
	FIELD(record_dispatch, grid[0], DISPATCH_KERNEL),
	FIELD(record_dispatch, grid[1], DISPATCH_KERNEL),
	FIELD(record_dispatch, grid[2], DISPATCH_KERNEL),
	FIELD(record_dispatch, workgroup[0], DISPATCH_KERNEL),
	FIELD(record_dispatch, workgroup[1], DISPATCH_KERNEL),
	FIELD(record_dispatch, workgroup[2], DISPATCH_KERNEL),
	FIELD(record_dispatch, setup, DISPATCH_KERNEL),
	FIELD(record_dispatch, private_bytes, DISPATCH_KERNEL),
	FIELD(record_dispatch, group_bytes, DISPATCH_KERNEL),
	FIELD(record_dispatch, packet_header, DISPATCH_KERNEL),
	FIELD(record_dispatch, untimed, DISPATCH_KERNEL),
	FIELD(record_dispatch, tid, DISPATCH_KERNEL),
	PADDING(record_dispatch, tid, DISPATCH_KERNEL),
};

static const struct pack_field dispatch_done_fields[] = {
	TAG,
	FIELD(record_dispatch_done, packet_index, BY_TAG),
	SPAN(record_dispatch_done, start_tick, end_tick, BY_TAG),
	FIELD(record_dispatch_done, untimed, BY_TAG),
};

static const struct pack_field barrier_fields[] = {
	TAG,
	FIELD(record_barrier, packet_index, BY_TAG),
	FIELD(record_barrier, cid, BY_TAG),
	FIELD(record_barrier, ns, BY_TAG),
	FIELD(record_barrier, dep_signal[0], BY_TAG),
	FIELD(record_barrier, dep_signal[1], BY_TAG),
	FIELD(record_barrier, dep_signal[2], BY_TAG),
	FIELD(record_barrier, dep_signal[3], BY_TAG),
	FIELD(record_barrier, dep_signal[4], BY_TAG),
	FIELD(record_barrier, completion_signal, BY_TAG),
	FIELD(record_barrier, packet_header, BY_TAG),
	FIELD(record_barrier, ordinal, BY_TAG),
};

enum { COPY_ORDINAL = 1, COPY_DST, COPY_SRC };
static const struct pack_field copy_fields[] = {
	TAG,
	[COPY_ORDINAL] = FIELD(record_copy, ordinal, PACK_NO_KEY),
	[COPY_DST] = FIELD(record_copy, dst, PACK_NO_KEY),
	[COPY_SRC] = FIELD(record_copy, src, COPY_DST),
	FIELD(record_copy, copy_id, BY_TAG),
	FIELD(record_copy, cid, BY_TAG),
	FIELD(record_copy, scope, BY_TAG),
	FIELD(record_copy, ns, BY_TAG),
	FIELD(record_copy, bytes, COPY_DST),
	FIELD(record_copy, dst_agent, COPY_DST),
	FIELD(record_copy, src_agent, COPY_SRC),
	FIELD(record_copy, completion_signal, BY_TAG),
	FIELD(record_copy, tid, BY_TAG),
};

static const struct pack_field copy_done_fields[] = {
	TAG,
	FIELD(record_copy_done, copy_id, BY_TAG),
	SPAN(record_copy_done, start, end, BY_TAG),
};

/* The graph node is the place: rows of one node are alike from replay to replay. */
enum { CUDA_KERNEL_NAME, CUDA_KERNEL_NODE };
static const struct pack_field cuda_kernel_fields[] = {
	[CUDA_KERNEL_NAME] = TAG,
	[CUDA_KERNEL_NODE] = FIELD(record_cuda_kernel, node, PACK_NO_KEY),
	FIELD(record_cuda_kernel, cid, CUDA_KERNEL_NAME),
	SPAN(record_cuda_kernel, start, end, CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, graph, CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, device, CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, context, CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, stream, CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, grid[0], CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, grid[1], CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, grid[2], CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, static_bytes, CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, dynamic_bytes, CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, local_bytes, CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, block[0], CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, block[1], CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, block[2], CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, registers, CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, cluster[0], CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, cluster[1], CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, cluster[2], CUDA_KERNEL_NAME),
	FIELD(record_cuda_kernel, reserved, CUDA_KERNEL_NAME),
};

enum { CUDA_COPY_NODE = 1 };
static const struct pack_field cuda_copy_fields[] = {
	TAG,
	[CUDA_COPY_NODE] = FIELD(record_cuda_copy, node, PACK_NO_KEY),
	FIELD(record_cuda_copy, cid, BY_TAG),
	SPAN(record_cuda_copy, start, end, BY_TAG),
	FIELD(record_cuda_copy, graph, BY_TAG),
	FIELD(record_cuda_copy, device, BY_TAG),
	FIELD(record_cuda_copy, context, BY_TAG),
	FIELD(record_cuda_copy, stream, BY_TAG),
	FIELD(record_cuda_copy, bytes, BY_TAG),
	FIELD(record_cuda_copy, src_device, BY_TAG),
	FIELD(record_cuda_copy, dst_device, BY_TAG),
	FIELD(record_cuda_copy, value, BY_TAG),
	FIELD(record_cuda_copy, direction, BY_TAG),
	FIELD(record_cuda_copy, src_memory, BY_TAG),
	FIELD(record_cuda_copy, dst_memory, BY_TAG),
	FIELD(record_cuda_copy, flags, BY_TAG),
};

static const struct pack_field api_fields[] = {
	TAG,
	FIELD(record_api, cid, BY_TAG),
	FIELD(record_api, parent, BY_TAG),
	FIELD(record_api, scope, BY_TAG),
	SPAN(record_api, begin_ns, end_ns, BY_TAG),
	FIELD(record_api, result, BY_TAG),
	FIELD(record_api, activities, BY_TAG),
};

static const struct pack_field scope_fields[] = {
	TAG,
	FIELD(record_scope, text_bytes, PACK_NO_KEY),
	FIELD(record_scope, id, BY_TAG),
	FIELD(record_scope, parent, BY_TAG),
	FIELD(record_scope, ns, BY_TAG),
};

static const struct pack_field scope_end_fields[] = {
	TAG,
	FIELD(record_scope_end, id, BY_TAG),
	FIELD(record_scope_end, ns, BY_TAG),
};

#define LAYOUT(id, structure, list, ...)                                                           \
	[RECORD_##id] = {list, sizeof(list) / sizeof(*(list)), sizeof(struct structure),           \
			 __VA_ARGS__}

static const struct pack_layout layouts[RECORD_TYPE_COUNT] = {
	LAYOUT(DISPATCH, record_dispatch, dispatch_fields, PACK_TAIL_WORDS, DISPATCH_KERNEL,
	       DISPATCH_ORDINAL),
	LAYOUT(DISPATCH_DONE, record_dispatch_done, dispatch_done_fields, PACK_TAIL_WORDS, BY_TAG,
	       PACK_NO_KEY),
	LAYOUT(BARRIER, record_barrier, barrier_fields, PACK_TAIL_WORDS, BY_TAG, PACK_NO_KEY),
	LAYOUT(COPY, record_copy, copy_fields, PACK_TAIL_WORDS, BY_TAG, COPY_ORDINAL),
	LAYOUT(COPY_DONE, record_copy_done, copy_done_fields, PACK_TAIL_WORDS, BY_TAG, PACK_NO_KEY),
	LAYOUT(API, record_api, api_fields, PACK_TAIL_WORDS, BY_TAG, PACK_NO_KEY),
	LAYOUT(SCOPE, record_scope, scope_fields, PACK_TAIL_TEXT, BY_TAG, PACK_NO_KEY),
	LAYOUT(SCOPE_END, record_scope_end, scope_end_fields, PACK_TAIL_WORDS, BY_TAG, PACK_NO_KEY),
	LAYOUT(CUDA_KERNEL, record_cuda_kernel, cuda_kernel_fields, PACK_TAIL_WORDS,
	       CUDA_KERNEL_NAME, CUDA_KERNEL_NODE),
	LAYOUT(CUDA_COPY, record_cuda_copy, cuda_copy_fields, PACK_TAIL_WORDS, BY_TAG,
	       CUDA_COPY_NODE),
};

/* The lists above cover these sizes. If one of these fails because a record has a new field, add
 * the field to its list as well. */
_Static_assert(sizeof(struct record_dispatch) == 104, "dispatch_fields");
_Static_assert(sizeof(struct record_dispatch_done) == 40, "dispatch_done_fields");
_Static_assert(sizeof(struct record_barrier) == 88, "barrier_fields");
_Static_assert(sizeof(struct record_copy) == 96, "copy_fields");
_Static_assert(sizeof(struct record_copy_done) == 32, "copy_done_fields");
_Static_assert(sizeof(struct record_api) == 56, "api_fields");
_Static_assert(sizeof(struct record_scope) == 40, "scope_fields");
_Static_assert(sizeof(struct record_scope_end) == 24, "scope_end_fields");
_Static_assert(sizeof(struct record_cuda_kernel) == 96, "cuda_kernel_fields");
_Static_assert(sizeof(struct record_cuda_copy) == 80, "cuda_copy_fields");

const struct pack_layout *pack_layout_of(uint16_t type)
{
	static const struct pack_layout any = {
		any_fields, 1, sizeof(struct record_header), PACK_TAIL_WORDS, BY_TAG, PACK_NO_KEY,
	};

	return type < RECORD_TYPE_COUNT && layouts[type].fields ? &layouts[type] : &any;
}
