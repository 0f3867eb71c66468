/* The kernels that hip_probe moves, compiled by hiprtc where it is available. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "patch/hip/hip_driver.h"

static const char source[] =
	"extern \"C\" __global__ void dagpatch_probe(unsigned *at, unsigned value)\n"
	"{ at[0] = value; }\n"
	"extern \"C\" __global__ void dagpatch_probe_other(unsigned first, unsigned *at, unsigned "
	"value)\n"
	"{ at[0] = first + value; }\n";

/* The functions of hiprtc.h, which have not changed since HIP 4.5; 0 is success. */
struct rtc {
	int (*hiprtcCreateProgram)(void **, const char *, const char *, int, const char **,
				   const char **);
	int (*hiprtcCompileProgram)(void *, int, const char **);
	int (*hiprtcGetCodeSize)(void *, size_t *);
	int (*hiprtcGetCode)(void *, char *);
	int (*hiprtcDestroyProgram)(void **);
};

/* Compiled code is kept for the whole process, because compiling takes 100 ms and more. */
struct compiled {
	struct compiled *next;
	int version, device; /* version of HIP and device that the code is for */
	void *code;	     /* NULL: it cannot be compiled */
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct compiled *first;

static bool find_rtc(void *library, struct rtc *rtc)
{
	*(void **)&rtc->hiprtcCreateProgram = dlsym(library, "hiprtcCreateProgram");
	*(void **)&rtc->hiprtcCompileProgram = dlsym(library, "hiprtcCompileProgram");
	*(void **)&rtc->hiprtcGetCodeSize = dlsym(library, "hiprtcGetCodeSize");
	*(void **)&rtc->hiprtcGetCode = dlsym(library, "hiprtcGetCode");
	*(void **)&rtc->hiprtcDestroyProgram = dlsym(library, "hiprtcDestroyProgram");
	return rtc->hiprtcCreateProgram && rtc->hiprtcCompileProgram && rtc->hiprtcGetCodeSize &&
	       rtc->hiprtcGetCode && rtc->hiprtcDestroyProgram;
}

/* Allocated by malloc; NULL: the kernels do not compile for this device. */
static void *compile(const struct rtc *rtc)
{
	void *program, *code = NULL;
	size_t size = 0;

	if (rtc->hiprtcCreateProgram(&program, source, "dagpatch_probe", 0, NULL, NULL) != 0)
		return NULL;
	if (rtc->hiprtcCompileProgram(program, 0, NULL) == 0 &&
	    rtc->hiprtcGetCodeSize(program, &size) == 0 && size > 0)
		code = malloc(size);
	if (code && rtc->hiprtcGetCode(program, code) != 0) {
		free(code);
		code = NULL;
	}
	rtc->hiprtcDestroyProgram(&program);
	return code;
}

/* A release's hiprtc is in a library beside its libamdhip64, or inside of it. */
static void *compile_by(struct hip_driver *hip)
{
	char name[32];
	struct rtc rtc;
	void *library, *code = NULL;

	if (find_rtc(hip->library, &rtc))
		return compile(&rtc);
	snprintf(name, sizeof(name), "libhiprtc.so.%d", hip->version / 10000000);
	library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return NULL;
	if (find_rtc(library, &rtc))
		code = compile(&rtc);
	dlclose(library);
	return code;
}

/* Call with the lock. NULL: no memory. */
static struct compiled *find_or_compile(struct hip_driver *hip)
{
	int device = hip->device.ordinal;
	struct compiled *at = first;

	while (at && (at->version != hip->version || at->device != device))
		at = at->next;
	if (at)
		return at;
	at = malloc(sizeof(*at));
	if (!at)
		return NULL;
	*at = (struct compiled){first, hip->version, device, compile_by(hip)};
	first = at;
	return at;
}

static const void *code_for(struct hip_driver *hip)
{
	const struct compiled *compiled;

	pthread_mutex_lock(&lock);
	compiled = find_or_compile(hip);
	pthread_mutex_unlock(&lock);
	return compiled ? compiled->code : NULL;
}

void *hip_rtc_load(struct hip_driver *hip, void **ret_function, void **ret_other)
{
	const void *code = code_for(hip);
	void *module = NULL;

	if (!code || hip->call.hipModuleLoadData(&module, code) != HIP_OK)
		return NULL;
	if (hip->call.hipModuleGetFunction(ret_function, module, "dagpatch_probe") != HIP_OK ||
	    hip->call.hipModuleGetFunction(ret_other, module, "dagpatch_probe_other") != HIP_OK) {
		hip->call.hipModuleUnload(module);
		return NULL;
	}
	return module;
}
