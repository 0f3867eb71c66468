/*
 * leaves HOW: gives up something that a recording needs, before it first uses a GPU, and then
 * launches one kernel.
 *
 * setuid USER     its privileges
 * chroot FOLDER   its root folder
 * setenv FOLDER   sets DAGTAP_SPOOL to another folder
 * unsetenv        removes DAGTAP_SPOOL
 * nothing         gives up nothing
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>

static int leave(const char *how, const char *what)
{
	if (!strcmp(how, "setuid"))
		return setuid((uid_t)atoi(what));
	if (!strcmp(how, "chroot"))
		return chroot(what);
	if (!strcmp(how, "setenv"))
		return setenv("DAGTAP_SPOOL", what, 1);
	if (!strcmp(how, "unsetenv"))
		return unsetenv("DAGTAP_SPOOL");
	return strcmp(how, "nothing");
}

int main(int argc, char **argv)
{
	void *memory;

	if (argc < 2 || leave(argv[1], argc > 2 ? argv[2] : "") != 0) {
		perror("leaves");
		return 1;
	}
	if (hipMalloc(&memory, 4096) || hipMemset(memory, 0, 4096) || hipDeviceSynchronize()) {
		fputs("leaves: HIP failed\n", stderr);
		return 1;
	}
	puts("launched");
	return 0;
}
