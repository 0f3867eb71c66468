/* The part of NVTX 3's interface for injected libraries (NVTX_INJECTION64_PATH) that the tracer
 * uses. Written from its documentation; tests/capture_cuda compares it with the installed header
 * where there is one. */
#ifndef DAGTAP_VENDOR_NVTX_TYPES_H
#define DAGTAP_VENDOR_NVTX_TYPES_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

enum nvtx_module { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };

enum nvtx_core {
	NVTX_CORE_MarkEx = 1,
	NVTX_CORE_MarkA = 2,
	NVTX_CORE_MarkW = 3,
	NVTX_CORE_RangeStartEx = 4,
	NVTX_CORE_RangeStartA = 5,
	NVTX_CORE_RangeStartW = 6,
	NVTX_CORE_RangeEnd = 7,
	NVTX_CORE_RangePushEx = 8,
	NVTX_CORE_RangePushA = 9,
	NVTX_CORE_RangePushW = 10,
	NVTX_CORE_RangePop = 11,
	NVTX_CORE_NameCategoryA = 12,
	NVTX_CORE_NameCategoryW = 13,
};

enum nvtx_core2 {
	NVTX_CORE2_DomainMarkEx = 1,
	NVTX_CORE2_DomainRangeStartEx = 2,
	NVTX_CORE2_DomainRangeEnd = 3,
	NVTX_CORE2_DomainRangePushEx = 4,
	NVTX_CORE2_DomainRangePop = 5,
	NVTX_CORE2_DomainNameCategoryA = 8,
	NVTX_CORE2_DomainNameCategoryW = 9,
	NVTX_CORE2_DomainRegisterStringA = 10,
	NVTX_CORE2_DomainRegisterStringW = 11,
	NVTX_CORE2_DomainCreateA = 12,
	NVTX_CORE2_DomainCreateW = 13,
	NVTX_CORE2_DomainDestroy = 14,
};

enum nvtx_message { NVTX_TEXT = 1, NVTX_WIDE_TEXT = 2, NVTX_REGISTERED = 3 };

enum nvtx_payload {
	NVTX_PAYLOAD_NONE = 0,
	NVTX_PAYLOAD_UINT64 = 1,
	NVTX_PAYLOAD_INT64 = 2,
	NVTX_PAYLOAD_FLOAT64 = 3,
	NVTX_PAYLOAD_UINT32 = 4,
	NVTX_PAYLOAD_INT32 = 5,
	NVTX_PAYLOAD_FLOAT32 = 6,
};

struct nvtx_attributes {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t reserved;
	union {
		uint64_t uint64;
		int64_t int64;
		double float64;
		uint32_t uint32;
		int32_t int32;
		float float32;
	} payload;
	int32_t message_type;
	union {
		const char *text;
		const wchar_t *wide;
		void *registered;
	} message;
};

typedef void (*nvtx_function)(void);

#define NVTX_TABLE_CALLBACKS 1

struct nvtx_callbacks {
	size_t bytes;
	int (*get_table)(int module, nvtx_function ***ret_table, unsigned int *ret_count);
};

typedef const void *nvtx_get_table(uint32_t id);

/* ---- extensions (nvToolsExtPayload.h) ---- */

#define NVTX_EXTENSION_PAYLOAD 2 /* nvtx_extension.id */

/* Indices into the slots of the extension of payloads. */
enum nvtx_payload_call {
	NVTX_PAYLOAD_Mark = 2,
	NVTX_PAYLOAD_RangePush = 3,
	NVTX_PAYLOAD_RangePop = 4,
	NVTX_PAYLOAD_RangeStart = 5,
	NVTX_PAYLOAD_RangeEnd = 6,
};

struct nvtx_slots {
	size_t id;
	size_t count;
	nvtx_function *slots;
};

struct nvtx_extension {
	uint16_t version;
	uint16_t bytes;
	uint16_t id;
	uint16_t compatible; /* number of the layout of payloads */
	size_t segment_count;
	struct nvtx_slots *segments;
	void *get_export;
	const void *info;
};

#endif
