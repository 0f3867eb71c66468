/* looked_up NAME LIBRARY...: prints the file that has the function NAME as a program gets it that
 * loads the LIBRARIES itself, a line each; the last library is asked first. */
#include <dlfcn.h>
#include <stdio.h>

enum { LIBRARIES_MOST = 8 };

int main(int argc, char **argv)
{
	void *libraries[LIBRARIES_MOST];
	int count = argc - 2;

	if (count < 1 || count > LIBRARIES_MOST)
		return 2;
	for (int i = 0; i < count; i++) {
		libraries[i] = dlopen(argv[2 + i], RTLD_NOW | RTLD_LOCAL);
		if (!libraries[i]) {
			fprintf(stderr, "looked_up: %s\n", dlerror());
			return 1;
		}
	}
	while (count-- > 0) {
		void *found = dlsym(libraries[count], argv[1]);
		const char *error = dlerror();
		Dl_info info = {0};

		if (!found || error || !dladdr(found, &info)) {
			fprintf(stderr, "looked_up: %s\n", error ? error : "no file");
			return 1;
		}
		printf("%s\n", info.dli_fname);
	}
	return 0;
}
