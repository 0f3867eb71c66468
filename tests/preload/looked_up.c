/* looked_up LIBRARY NAME...: prints the file that has the function NAME as a program gets it that
 * loads LIBRARY itself, a line each. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!library) {
		fprintf(stderr, "looked_up: %s\n", argc > 2 ? dlerror() : "no library and name");
		return 1;
	}
	for (int i = 2; i < argc; i++) {
		void *found = dlsym(library, argv[i]);
		Dl_info info = {0};

		if (!found || !dladdr(found, &info))
			return 1;
		printf("%s %s\n", argv[i], info.dli_fname);
	}
	return 0;
}
