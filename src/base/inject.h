/* The interface between libdagtap and the injected library: one table of functions.
 *
 * The injected library exports the table as `dagtap_inject_v1`; libdagtap looks this name up when
 * it is loaded. If the injected library is loaded later, or is not in the global scope, it looks
 * for libdagtap and calls `dagtap_attach` with the table. The table is static, and the injected
 * library is never unloaded, so the pointer stays valid. New members are appended; `bytes` tells
 * which ones a table has. */
#ifndef DAGTAP_BASE_INJECT_H
#define DAGTAP_BASE_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INJECT_SYMBOL	 "dagtap_inject_v1"
#define ATTACH_SYMBOL	 "dagtap_attach"
#define ANNOTATE_LIBRARY "libdagtap.so.0"

struct dagtap_attribute;

/* A call of HIP or RCCL that is recorded, as an observer sees it. Valid during the observer's
 * function. */
struct inject_call {
	uint64_t cid;	   /* its correlation id in the recording */
	uint64_t parent;   /* that of the enclosing call, 0 = none */
	uint32_t function; /* number of its API_NAME record */
	/* Kernels and copies by copy engines that were submitted before it returned, and packets
	 * that another thread submits later, whose kind is not known yet. 0 at its entry. */
	uint32_t dispatches, copies, unknown;
	const char *text; /* text of its API_NAME record: the name up to the first space; static */
	const void *stream; /* of HIP: its stream argument; NULL: none, or the default stream */
	int result;	    /* what it returned; 0 at its entry */
	/* At its entry: the words of its arguments, which TEXT describes, with pointers as the
	 * program passes them, and a pointer to an ncclUniqueId. NULL at its return. */
	const uint64_t *args;
	uint64_t value; /* at its return: the result as a word, or the text that it returned */
};

/* Functions of roctx, in the order of its three dispatch tables: of marks and ranges, of control,
 * and of names. */
enum inject_mark_function {
	INJECT_MARK,
	INJECT_PUSH,
	INJECT_POP,
	INJECT_START,
	INJECT_STOP,
	INJECT_THREAD_ID,
	INJECT_PAUSE,
	INJECT_RESUME,
	INJECT_NAME_THREAD,
	INJECT_NAME_AGENT,
	INJECT_NAME_DEVICE,
	INJECT_NAME_STREAM
};

/* A call of roctx, as an observer sees it. Valid during the observer's function. */
struct inject_mark {
	uint64_t cid;		   /* a correlation id that nothing in the recording has */
	uint64_t parent;	   /* that of the enclosing call, 0 = none */
	uint64_t begin_ns, end_ns; /* end_ns: 0 at its entry */
	/* A range that stops, the pointer for a thread's id, a thread that pauses or resumes, an
	 * agent, device or stream that gets a name; else 0. */
	uint64_t argument;
	uint64_t result;     /* a level, a range or an error; 0 at its entry */
	const char *message; /* or name; NULL: none */
	enum inject_mark_function function;
	/* Number of the recording that is on, or was the last one, at its entry or return: each
	 * start of a recording takes the next number. From 1. */
	uint64_t recording;
};

/* An agent of HSA, as AGENT records have it. */
struct inject_agent {
	uint32_t driver_id;   /* 0 = unknown */
	uint32_t gpu_ordinal; /* of a GPU */
	bool is_known, is_gpu;
};

/* What a function of HSA does to memory: hsa_memory_allocate and
 * hsa_amd_memory_pool_allocate, hsa_amd_vmem_handle_create, hsa_memory_free and
 * hsa_amd_memory_pool_free, hsa_amd_vmem_handle_release. */
enum inject_memory_operation {
	INJECT_ALLOCATE = 1,
	INJECT_VMEM_ALLOCATE,
	INJECT_FREE,
	INJECT_VMEM_FREE
};

/* A call of such a function, as an observer sees it. Valid during the observer's function. */
struct inject_memory {
	/* Of the enclosing call; without one, an id that nothing in the recording has. */
	uint64_t cid;
	uint64_t parent;	   /* of the call around that one, 0 = none */
	uint64_t begin_ns, end_ns; /* end_ns: 0 at its entry */
	uint64_t address; /* or handle; 0 at the entry of an allocation, and if it has failed */
	uint64_t bytes;	  /* 0 of what frees */
	struct inject_agent agent; /* not known of what frees */
	enum inject_memory_operation operation;
};

/* What the HSA runtime does to the scratch memory of a queue. */
enum inject_scratch_operation {
	INJECT_SCRATCH_ALLOCATE = 1,
	INJECT_SCRATCH_FREE,
	INJECT_SCRATCH_RECLAIM
};

/* The begin or the end of such an operation. Valid during the observer's function. */
struct inject_scratch {
	uint64_t cid, parent;	   /* as of a call that allocates memory */
	uint64_t begin_ns, end_ns; /* end_ns: 0 at its begin */
	uint64_t queue;		   /* hsa_queue_t's id */
	uint64_t dispatch;	   /* the packet that needs it; 0 unless it is allocated */
	uint64_t bytes, slots;	   /* 0 at the begin, and unless it is allocated */
	struct inject_agent agent;
	uint32_t flags; /* hsa_amd_event_scratch_alloc_flag_t */
	enum inject_scratch_operation operation;
};

/* Functions that are called on the thread of each recorded call of HIP or RCCL, and, while
 * something is recorded, of each call of roctx, of each call of HSA that allocates or frees memory,
 * and of what the HSA runtime does to scratch memory: before the vendor's function and after it has
 * returned. Calls of HIP that they make are recorded too; calls that ENTER or LEAVE makes have the
 * parent of the call that it is told of. ENTER and LEAVE may leave by longjmp. Then the recording
 * has the call as one that has not returned. */
struct inject_observer {
	void (*enter)(const struct inject_call *call);
	void (*leave)(const struct inject_call *call);
	void (*mark)(const struct inject_mark *mark);
	/* NULL: nobody wants to be told. */
	void (*memory)(const struct inject_memory *memory);
	void (*scratch)(const struct inject_scratch *scratch);
};

/* Each function implements the public function of the same name in dagtap/annotate.h (scope_*,
 * step_*) or dagtap/session.h (start, is_recording, stop, note, path), where its contract is. */
struct inject_table {
	uint64_t bytes; /* sizeof this struct in the injected library */
	uint64_t (*scope_push)(const char *text);
	void (*scope_pop)(void);
	int (*start)(void);
	int (*is_recording)(void);
	void (*stop)(void);
	void (*note)(const char *text);
	uint64_t (*scope_push_with)(const char *text, const struct dagtap_attribute *attributes,
				    size_t count);
	uint64_t (*step_begin)(const char *name, int64_t number);
	void (*step_end)(void);
	size_t (*scope_path)(uint64_t *ret_ids, size_t room);
	void (*scope_attach)(const uint64_t *ids, size_t count);
	void (*scope_detach)(void);
	size_t (*path)(char *ret_path, size_t room);
	/* Sets the observer of this process, which must stay valid; NULL: none. Threads may be
	 * inside the last one when it returns. */
	void (*observe)(const struct inject_observer *observer);
	uint64_t call_bytes; /* sizeof(struct inject_call) in the injected library */
	uint64_t mark_bytes; /* sizeof(struct inject_mark) in it */
};

/* What a library that loads the injected one decides, unless the user has set the variable of this
 * name: texts as in the environment, NULL = none. The injected library looks for a pointer of this
 * name, which is not NULL while it is loaded, and copies the texts. The environment is left as it
 * is: another thread may read it at the same time. */
#define SETTINGS_SYMBOL "dagtap_settings_v1"
struct inject_settings {
	uint64_t bytes; /* sizeof this struct in the library that loads the injected one */
	const char *spool, *wait, *calls; /* DAGTAP_SPOOL, DAGTAP_WAIT, DAGTAP_CALLS */
};

/* The type of dagtap_attach. Any thread; may be called more than once with the same table. */
typedef void attach_function(const struct inject_table *table);

#endif
