/* A profile: the capture range, and the XSpace that is made of it. profile.h has the contracts. */
#include "jax/profile.h"

#include <dagtap/export.h>
#include <dagtap/session.h>
#include <dagtap/trace.h>

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "jax/message.h"
#include "jax/thread_lines.h"

struct profile {
	bool was_started;
	bool is_recording;
	bool resumes; /* the process was being recorded before, and is again afterwards */
	bool has_bytes;
	char *path;			      /* owned; the recording's file; NULL: there is none */
	struct dagtap_export_thread *threads; /* owned; when the recording stopped */
	size_t threads_count;

	int fd;		/* the XSpace in memory, or -1 */
	uint8_t *bytes; /* owned mapping of it, or `message` */
	size_t size;
	uint64_t started_ns;		/* CLOCK_REALTIME */
	uint8_t message[MESSAGE_BYTES]; /* the XSpace of a profile that could not be made */
};

/* The recording of the process has one profile at a time. */
static atomic_bool is_taken;

struct profile *profile_create(void)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	profile->fd = -1;
	return profile;
}

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Makes the profile's XSpace of one message and nothing else, unless it has one already. */
__attribute__((format(printf, 2, 3))) static void give_up(struct profile *profile,
							  const char *format, ...)
{
	char text[MESSAGE_TEXT_BYTES];
	va_list arguments;

	if (profile->has_bytes)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (!profile->was_started)
		profile->started_ns = realtime_ns();
	profile->size = message_xspace(text, profile->started_ns, realtime_ns(), profile->message);
	profile->bytes = profile->message;
	profile->has_bytes = true;
}

static char *copy_path(void)
{
	size_t bytes = dagtap_session_path(NULL, 0);
	char *path = bytes ? malloc(bytes + 1) : NULL;

	if (path && dagtap_session_path(path, bytes + 1) != bytes) {
		free(path);
		path = NULL;
	}
	return path;
}

void profile_start(struct profile *profile)
{
	if (profile->was_started)
		return;
	profile->was_started = true;
	profile->started_ns = realtime_ns();
	if (atomic_exchange(&is_taken, true)) {
		give_up(profile, "dagtap: another profile of this process was being recorded");
		return;
	}
	if (dagtap_session_is_recording()) {
		profile->resumes = true;
		dagtap_session_stop();
	}
	if (!dagtap_session_start()) {
		atomic_store(&is_taken, false);
		give_up(profile, "dagtap: nothing was recorded: the process was not started by "
				 "`dagtap record`, or its recording could not start or is over");
		return;
	}
	profile->is_recording = true;
	profile->path = copy_path();
}

void profile_stop(struct profile *profile)
{
	if (!profile->is_recording)
		return;
	profile->is_recording = false;
	profile->threads_count = thread_lines_list(&profile->threads);
	dagtap_session_stop();
	if (profile->resumes)
		dagtap_session_start();
	atomic_store(&is_taken, false);
}

static void map(struct profile *profile)
{
	off_t bytes = lseek(profile->fd, 0, SEEK_END);
	void *mapping = MAP_FAILED;

	if (bytes > 0)
		mapping = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, profile->fd, 0);
	if (mapping == MAP_FAILED) {
		give_up(profile, "dagtap: the profile could not be mapped: %s", strerror(errno));
		return;
	}
	profile->bytes = mapping;
	profile->size = (size_t)bytes;
	profile->has_bytes = true;
}

static void write_xspace(struct profile *profile, const struct dagtap_trace *trace)
{
	const struct dagtap_export_options options = {
		.compat = "pjrt",
		.threads = profile->threads,
		.threads_count = profile->threads_count,
	};
	struct dagtap_error error = {.message = ""};

	profile->fd = memfd_create("dagtap profile", MFD_CLOEXEC);
	if (profile->fd < 0) {
		give_up(profile, "dagtap: no memory for the profile: %s", strerror(errno));
		return;
	}
	if (dagtap_export_to(trace, "xspace", &options, profile->fd, &error) < 0) {
		give_up(profile, "dagtap: %s", error.message);
		return;
	}
	map(profile);
}

/* Another copy of the recording must not be kept, so the trace is closed before the profile is
 * read. */
static void make(struct profile *profile)
{
	struct dagtap_error error = {.message = ""};
	struct dagtap_trace *trace;

	if (!profile->was_started)
		give_up(profile, "dagtap: the profile was never started");
	else if (!profile->path)
		give_up(profile, "dagtap: the recording has no file");
	else if (dagtap_trace_open(profile->path, &trace, &error) < 0)
		give_up(profile, "dagtap: %s", error.message);
	else {
		write_xspace(profile, trace);
		dagtap_trace_close(trace);
	}
}

const uint8_t *profile_bytes(struct profile *profile, size_t *ret_bytes)
{
	profile_stop(profile);
	if (!profile->has_bytes)
		make(profile);
	*ret_bytes = profile->size;
	return profile->bytes;
}

int profile_is_made(const struct profile *profile)
{
	return profile->has_bytes;
}

void profile_destroy(struct profile *profile)
{
	if (!profile)
		return;
	profile_stop(profile);
	if (profile->bytes && profile->bytes != profile->message)
		munmap(profile->bytes, profile->size);
	if (profile->fd >= 0)
		close(profile->fd);
	free(profile->path);
	free(profile->threads);
	free(profile);
}
