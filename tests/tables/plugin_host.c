/*
 * plugin_host LIBRARY: loads LIBRARY as an interpreter loads its modules, and prints what it finds.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*version)(void) = library ? (int (*)(void))dlsym(library, "plugin_version") : NULL;

	printf("version: %d\n", version ? version() : -2);
	return 0;
}
