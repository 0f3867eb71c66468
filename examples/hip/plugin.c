/*
 * plugin N: a program that is not linked with HIP loads a library that is, with RTLD_LOCAL, as
 * Python loads its extension modules. Shows that a tracer also finds HIP there. The library must
 * lie beside the program.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *load_neighbour(const char *name)
{
	char self[PATH_MAX] = "", path[PATH_MAX + 64];

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", dirname(self), name);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

int main(int argc, char **argv)
{
	void *library = load_neighbour("libplugin-work.so");
	int (*work)(int argc, char **argv);

	if (!library) {
		fprintf(stderr, "plugin: %s\n", dlerror());
		return EXIT_FAILURE;
	}
	work = (int (*)(int, char **))dlsym(library, "plugin_work");
	if (!work) {
		fprintf(stderr, "plugin: %s\n", dlerror());
		return EXIT_FAILURE;
	}
	return work(argc, argv);
}
