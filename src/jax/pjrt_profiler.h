/* The binary interface between XLA and a plugin of its profiler: the part of PJRT's C interface
 * that such a plugin needs, laid out by hand, because XLA ships no header for it.
 *
 * A capsule named "pjrt_c_api" that holds a struct pjrt_api is given to jaxlib's
 * register_plugin_profiler. XLA looks at the list of extensions alone. All functions of struct
 * pjrt_profiler_api take a pointer to their arguments and return an error, NULL = success, which
 * they own. XLA calls them on one thread at a time for each profiler, but other threads may have
 * profilers of their own.
 *
 * XLA does not initialize the first member of the arguments (size) nor, in pjrt_profiler_collect,
 * the last one: a function must not read them (jaxlib 0.10.2 and 0.12.0).
 *
 * Sources: xla/pjrt/c/pjrt_c_api.h, xla/backends/profiler/plugin/profiler_c_api.h and
 * plugin_tracer_impl.cc of openxla/xla. */
#ifndef DAGTAP_JAX_PJRT_PROFILER_H
#define DAGTAP_JAX_PJRT_PROFILER_H

#include <stddef.h>
#include <stdint.h>

/* PJRT_Extension_Type: of custom calls of GPUs, which the plugins for GPUs have, and of the
 * profiler. */
#define PJRT_EXTENSION_GPU	0
#define PJRT_EXTENSION_PROFILER 1

/* The profiler's and the error's own structs; XLA passes pointers to them back. */
struct pjrt_profiler;
struct pjrt_profiler_error;

/* Codes of absl::Status. */
enum pjrt_code { PJRT_INVALID_ARGUMENT = 3, PJRT_RESOURCE_EXHAUSTED = 8 };

struct pjrt_error_destroy {
	size_t size;
	void *priv;
	struct pjrt_profiler_error *error;
};

struct pjrt_error_message {
	size_t size;
	void *priv;
	const struct pjrt_profiler_error *error;
	const char *ret_message; /* of the error */
	size_t ret_bytes;
};

struct pjrt_error_get_code {
	size_t size;
	void *priv;
	const struct pjrt_profiler_error *error;
	int ret_code; /* enum pjrt_code */
};

struct pjrt_profiler_create {
	size_t size;
	const char *options; /* tensorflow.ProfileOptions, serialized */
	size_t options_bytes;
	struct pjrt_profiler *ret_profiler;
};

/* The arguments of destroy, start and stop. */
struct pjrt_profiler_verb {
	size_t size;
	struct pjrt_profiler *profiler;
};

struct pjrt_profiler_collect {
	size_t size;
	struct pjrt_profiler *profiler;
	/* NULL: becomes the plugin's own buffer, valid until destroy. Else the caller's buffer, of
	 * the size that an earlier call returned. */
	uint8_t *buffer;
	size_t ret_bytes;
};

/* PLUGIN_Profiler_Api, version 1. Later versions append functions; XLA tells by `size`. */
struct pjrt_profiler_api {
	size_t size;
	void *priv;
	void (*error_destroy)(struct pjrt_error_destroy *args);
	void (*error_message)(struct pjrt_error_message *args);
	struct pjrt_profiler_error *(*error_get_code)(struct pjrt_error_get_code *args);
	struct pjrt_profiler_error *(*create)(struct pjrt_profiler_create *args);
	struct pjrt_profiler_error *(*destroy)(struct pjrt_profiler_verb *args);
	struct pjrt_profiler_error *(*start)(struct pjrt_profiler_verb *args);
	struct pjrt_profiler_error *(*stop)(struct pjrt_profiler_verb *args);
	struct pjrt_profiler_error *(*collect_data)(struct pjrt_profiler_collect *args);
};

/* PJRT_Profiler_Extension. */
struct pjrt_profiler_extension {
	size_t size;
	int type; /* PJRT_EXTENSION_PROFILER */
	const void *next;
	const struct pjrt_profiler_api *profiler_api;
	int64_t traceme_context_id; /* 0: none */
};

struct pjrt_api_version {
	size_t size;
	const void *next;
	int major;
	int minor;
};

/* The head of PJRT_Api. The functions behind it are absent. */
struct pjrt_api {
	size_t size;
	const struct pjrt_profiler_extension *extensions;
	struct pjrt_api_version version;
};

_Static_assert(sizeof(struct pjrt_profiler_api) == 10 * sizeof(void *), "version 1 has 80 bytes");
_Static_assert(sizeof(struct pjrt_profiler_extension) == 40, "as XLA's");
_Static_assert(sizeof(struct pjrt_api) == 40, "as the head of XLA's");

#endif
