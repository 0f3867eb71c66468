/*
 * Preloaded into a HIP program: after hipStreamSynchronize it waits until the tool has prepared
 * enough chunks for the program's records up to the next hipStreamSynchronize, so that none is
 * dropped.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/spool.h"

#define SHOWN __attribute__((visibility("default")))

/* Chunks: less than the least that is kept ready. */
#define READY_LEAST 256

/* Returns the spool that this process writes, -1 if there is none. */
static int spool_open(void)
{
	const char *folder = getenv("DAGTAP_SPOOL");
	glob_t found = {0};
	char pattern[4096];
	int file = -1;

	snprintf(pattern, sizeof(pattern), "%s/%d.*.spool", folder ? folder : "", (int)getpid());
	if (glob(pattern, 0, NULL, &found) == 0)
		file = open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC);
	globfree(&found);
	return file;
}

static void wait_for_room(void)
{
	int spool = spool_open();
	struct spool_live live;

	while (spool >= 0 && pread(spool, &live, sizeof(live), SPOOL_LIVE_OFFSET) == sizeof(live) &&
	       live.chunks_ready - live.chunks_taken < READY_LEAST)
		usleep(1000);
	if (spool >= 0)
		close(spool);
}

SHOWN int hipStreamSynchronize(void *stream);
int hipStreamSynchronize(void *stream)
{
	int (*next)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "hipStreamSynchronize");
	int result = next(stream);

	wait_for_room();
	return result;
}
