/* Numbers of the fields of perfetto's messages that the writer uses.
 * Facts: protos/perfetto/trace/ of the perfetto project (Apache-2.0), v52 to v59. The GPU compute
 * fields (launch, compute kernels, gpu_correlation) came with v55; older readers skip them. */
#ifndef DAGTAP_FORMAT_PERFETTO_FIELDS_H
#define DAGTAP_FORMAT_PERFETTO_FIELDS_H

enum { TRACE_PACKET = 1 };

enum packet_field {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_GPU_RENDER_STAGE_EVENT = 53,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_TRACE_ATTRIBUTES = 126,
	PACKET_GPU_INFO = 128,
};

enum sequence_flag { SEQUENCE_CLEARED = 1, SEQUENCE_NEEDS_STATE = 2 };

enum { DEFAULTS_CLOCK_ID = 58 };

enum clock_snapshot_field { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2 };
enum clock_field { CLOCK_FIELD_ID = 1, CLOCK_FIELD_TIMESTAMP = 2 };
enum builtin_clock { BUILTIN_REALTIME = 1, BUILTIN_MONOTONIC = 3 };

enum track_field {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
};

enum process_field { PROCESS_PID = 1, PROCESS_CMDLINE = 2, PROCESS_NAME = 6 };
enum thread_field { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };

enum event_field {
	EVENT_CATEGORY_IIDS = 3,
	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_FLOW_IDS = 47,
	EVENT_TERMINATING_FLOW_IDS = 48,
	EVENT_GPU_CORRELATION = 3000,
};

enum event_type { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_INSTANT = 3 };

enum { CORRELATION_SUBMISSIONS = 1 };

enum annotation_field {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_NAME = 10,
	ANNOTATION_DICT_ENTRIES = 11,
	ANNOTATION_STRING_IID = 17,
};

enum interned_field {
	INTERNED_CATEGORIES = 1,
	INTERNED_EVENT_NAMES = 2,
	INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_GRAPHICS_CONTEXTS = 23,
	INTERNED_GPU_SPECIFICATIONS = 24,
	INTERNED_ANNOTATION_STRINGS = 29,
	INTERNED_COMPUTE_KERNELS = 1000,
};

/* The first two fields of every interned entry. */
enum { INTERNED_IID = 1, INTERNED_NAME = 2 };

enum context_field { CONTEXT_PID = 2, CONTEXT_API = 3 };
enum { CONTEXT_API_HIP = 5 };

enum specification_field { SPECIFICATION_DESCRIPTION = 3, SPECIFICATION_CATEGORY = 4 };
enum { CATEGORY_OTHER = 0, CATEGORY_COMPUTE = 2 };

enum stage_field {
	STAGE_EVENT_ID = 1,
	STAGE_DURATION = 2,
	STAGE_CONTEXT = 5,
	STAGE_EXTRA_DATA = 6,
	STAGE_GPU_ID = 11,
	STAGE_QUEUE_IID = 13,
	STAGE_STAGE_IID = 14,
	STAGE_KERNEL_IID = 19,
	STAGE_LAUNCH = 21,
};

enum extra_field { EXTRA_NAME = 1, EXTRA_VALUE = 2 };
enum launch_field { LAUNCH_GRID = 1, LAUNCH_WORKGROUP = 2 };
enum dim_field { DIM_X = 1, DIM_Y = 2, DIM_Z = 3 };

enum { GPU_INFO_GPUS = 1 };
enum gpu_field { GPU_NAME = 1, GPU_MODEL = 3, GPU_ARCHITECTURE = 4, GPU_UUID = 5, GPU_EXTRA = 6 };
enum gpu_extra_field { GPU_EXTRA_KEY = 1, GPU_EXTRA_VALUE = 2 };

enum { ATTRIBUTES_ATTRIBUTE = 1 };
enum attribute_field { ATTRIBUTE_KEY = 1, ATTRIBUTE_LONG = 2, ATTRIBUTE_STRING = 3 };

#endif
