/*
 * cuda-plugin-program PLUGIN [early]: loads the tool as the driver does, then PLUGIN as Python
 * loads an extension module, and prints what PLUGIN got of CUPTI as a subscriber. The program
 * itself is not linked with CUPTI. With "early" PLUGIN subscribes before the tool is loaded.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void load_tool(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(void) =
		library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;

	if (initialize)
		initialize();
}

int main(int argc, char **argv)
{
	uint32_t (*subscribe)(void);
	void *plugin;

	if (argc == 2)
		load_tool();
	plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	subscribe = plugin ? (uint32_t(*)(void))dlsym(plugin, "plugin_subscribe") : NULL;
	if (!subscribe) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	printf("subscribed: %u\n", subscribe());
	return 0;
}
