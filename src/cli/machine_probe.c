/* Looks for the vendors' libraries and drivers, and for dagtap's own libraries. */
#include "cli/machine_probe.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/launcher.h"

/* Loads and unloads the first of NAMES that the loader finds. Only the library's constructors and
 * destructors run. Sets *RET_TEXT to its path, or to the loader's message. */
static bool find_library(const char *const *names, char **ret_text)
{
	const char *complaint = NULL;

	for (; *names; names++) {
		void *library = dlopen(*names, RTLD_LAZY | RTLD_LOCAL);
		struct link_map *map = NULL;

		if (!library) {
			complaint = dlerror();
			continue;
		}
		if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map)
			*ret_text = strdup(map->l_name);
		dlclose(library);
		return true;
	}
	*ret_text = complaint ? strdup(complaint) : NULL;
	return false;
}

static bool probe_hip(char **ret_text)
{
	static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6",
					    "libamdhip64.so.5", "libamdhip64.so", NULL};

	return find_library(names, ret_text);
}

static bool probe_hsa(char **ret_text)
{
	static const char *const names[] = {"libhsa-runtime64.so.1", NULL};
	char *library = NULL;

	if (!find_library(names, ret_text))
		return false;
	if (access("/dev/kfd", R_OK | W_OK) == 0)
		return true;
	library = *ret_text;
	if (asprintf(ret_text, "no AMD GPU driver (/dev/kfd); the library is %s",
		     library ? library : "there") < 0)
		*ret_text = NULL;
	free(library);
	return false;
}

static bool probe_installed(const char *name, char **ret_text)
{
	struct dagtap_error error;

	if (launch_find(name, ret_text, &error) == 0)
		return true;
	*ret_text = strdup(error.message);
	return false;
}

static bool probe_softgpu(char **ret_text)
{
	return probe_installed("softgpu/libhsa-runtime64.so.1", ret_text);
}

static bool probe_inject(char **ret_text)
{
	return probe_installed("libdagtap-inject.so", ret_text);
}

static bool probe_cuda(char **ret_text)
{
	static const char *const drivers[] = {"libcuda.so.1", NULL};
	const char *wanted = getenv("DAGTAP_CUPTI");
	const char *const named[] = {wanted, NULL};
	static const char *const names[] = {"libcupti.so.13",
					    "libcupti.so.12",
					    "libcupti.so",
					    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
					    "/usr/local/cuda/lib64/libcupti.so",
					    "libcupti.so.11.8",
					    NULL};

	if (!find_library(drivers, ret_text))
		return false;
	free(*ret_text);
	return find_library(wanted && *wanted ? named : names, ret_text);
}

static const struct {
	const char *name;
	const char *help;
	bool (*probe)(char **ret_text);
} probes[MACHINE_SOURCE_COUNT] = {
	{"tracer", "the library that goes into the program", probe_inject},
	{"hip", "API calls, graphs, streams", probe_hip},
	{"hsa", "dispatches and copies of AMD GPUs", probe_hsa},
	{"softgpu", "an AMD GPU in software (--softgpu)", probe_softgpu},
	{"cuda", "NVIDIA GPUs, through CUPTI", probe_cuda},
};

void machine_probe(struct machine_source ret_sources[MACHINE_SOURCE_COUNT])
{
	for (int i = 0; i < MACHINE_SOURCE_COUNT; i++) {
		ret_sources[i] = (struct machine_source){
			.name = probes[i].name,
			.help = probes[i].help,
		};
		ret_sources[i].is_there = probes[i].probe(&ret_sources[i].text);
	}
}

/* Whether the driver of AMD or NVIDIA has made a device file; in Windows' Linux both use dxg. */
static bool has_gpu(void)
{
	glob_t found = {0};
	bool has_nvidia = glob("/dev/nvidia*", GLOB_NOSORT, NULL, &found) == 0;

	globfree(&found);
	return has_nvidia || access("/dev/kfd", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

const char *machine_advise(bool is_softgpu)
{
	return is_softgpu || has_gpu()
		       ? "dagtap info says what can be recorded here"
		       : "dagtap info says what can be recorded here; there is no GPU, and "
			 "--softgpu runs HIP programs on a software GPU";
}
