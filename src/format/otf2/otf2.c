/* The OTF2 writer: an archive of libotf2 (docs/format/otf2.md). This file opens and closes it. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "format/otf2/otf2.h"
#include "format/otf2/otf2_trace_id.h"
#include "trace/row_table.h"

#define ARCHIVE	    "traces"
/* libotf2 clears a chunk for each location, and another for its definitions. */
#define CHUNK_BYTES OTF2_CHUNK_SIZE_MIN

static OTF2_FlushType before_flush(void *user, OTF2_FileType type, OTF2_LocationRef location,
				   void *caller, bool final)
{
	return OTF2_FLUSH;
}

static OTF2_TimeStamp after_flush(void *user, OTF2_FileType type, OTF2_LocationRef location)
{
	return 0;
}

static const OTF2_FlushCallbacks flush_callbacks = {before_flush, after_flush};

/* The first error that libotf2 met on this thread since an archive was opened. What its functions
 * return is often a later one. */
static _Thread_local OTF2_ErrorCode cause;

/* Instead of libotf2's own, which prints. */
static OTF2_ErrorCode keep_cause(void *user, const char *file, uint64_t line, const char *function,
				 OTF2_ErrorCode result, const char *format, va_list arguments)
{
	if (cause == OTF2_SUCCESS)
		cause = result;
	return result;
}

static int open_archive(struct otf2 *otf2, const char *path)
{
	OTF2_Error_RegisterCallback(keep_cause, NULL);
	otf2->archive = OTF2_Archive_Open(path, ARCHIVE, OTF2_FILEMODE_WRITE, CHUNK_BYTES,
					  CHUNK_BYTES, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	otf2->attributes = OTF2_AttributeList_New();
	if (!otf2->archive || !otf2->attributes)
		return cause == OTF2_SUCCESS ? -ENOMEM : -EIO;
	otf2_check(otf2, OTF2_Archive_SetFlushCallbacks(otf2->archive, &flush_callbacks, NULL));
	otf2_check(otf2, OTF2_Archive_SetSerialCollectiveCallbacks(otf2->archive));
	otf2_check(otf2, OTF2_Archive_SetCreator(otf2->archive, "dagtap " DAGTAP_VERSION));
	otf2_check(otf2, OTF2_Archive_OpenEvtFiles(otf2->archive));
	otf2->definitions = OTF2_Archive_GetGlobalDefWriter(otf2->archive);
	return otf2->definitions ? 0 : -EIO;
}

/* Each location has definitions of its own, here none. Readers want the files. */
static void put_local_definitions(struct otf2 *otf2)
{
	otf2_check(otf2, OTF2_Archive_CloseEvtFiles(otf2->archive));
	otf2_check(otf2, OTF2_Archive_OpenDefFiles(otf2->archive));
	for (uint64_t i = 0; i < otf2->locations_count && otf2_ok(otf2); i++) {
		OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(otf2->archive, i);

		otf2_check(otf2, OTF2_Archive_CloseDefWriter(otf2->archive, writer));
	}
	otf2_check(otf2, OTF2_Archive_CloseDefFiles(otf2->archive));
}

static void put_all(struct otf2 *otf2)
{
	otf2_put_head(otf2);
	otf2_put_threads(otf2);
	otf2_put_streams(otf2);
	if (otf2_ok(otf2))
		put_local_definitions(otf2);
}

static int init(struct otf2 *otf2, const struct trace *trace)
{
	size_t places;

	*otf2 = (struct otf2){.trace = trace};
	if (timeline_init(&otf2->timeline, trace) < 0)
		return -ENOMEM;
	places = ((size_t)otf2->timeline.gpus.count + 1) * trace->processes_count;
	otf2->regions = calloc((size_t)trace->strings_count * OTF2_REGION_KINDS + TRACE_P2P + 2,
			       sizeof(*otf2->regions));
	otf2->paths = calloc((size_t)trace->scopes_count + 1, sizeof(*otf2->paths));
	otf2->groups = calloc(places + 1, sizeof(*otf2->groups));
	return otf2->regions && otf2->paths && otf2->groups ? 0 : -ENOMEM;
}

static void release(struct otf2 *otf2)
{
	timeline_release(&otf2->timeline);
	rows_nest_release(&otf2->nest);
	numbers_release(&otf2->strings);
	free(otf2->regions);
	free(otf2->paths);
	free(otf2->groups);
	free(otf2->clean.text);
}

/* Closes the archive, which writes what is left of it. */
static void close_archive(struct otf2 *otf2)
{
	if (otf2->attributes)
		OTF2_AttributeList_Delete(otf2->attributes);
	if (otf2->archive)
		otf2_check(otf2, OTF2_Archive_Close(otf2->archive));
}

static int number(const struct trace *trace, const char *path)
{
	char *anchor;
	int err;

	if (asprintf(&anchor, "%s/" ARCHIVE ".otf2", path) < 0)
		return -ENOMEM;
	err = otf2_trace_id_replace(trace, anchor);
	free(anchor);
	return err;
}

static int fail(const struct otf2 *otf2, struct dagtap_error *error)
{
	OTF2_ErrorCode code = cause == OTF2_SUCCESS ? otf2->failed : cause;

	return dagtap_error_set(error, code == OTF2_ERROR_ENOSPC ? -ENOSPC : -EIO, "otf2: %s",
				OTF2_Error_GetDescription(code));
}

static int write_folder(const struct trace *trace, const char *path,
			const struct format_options *options, struct dagtap_error *error)
{
	struct otf2 otf2;
	int err = init(&otf2, trace);

	cause = OTF2_SUCCESS;
	if (err == 0)
		err = open_archive(&otf2, path);
	if (err == 0) {
		put_all(&otf2);
		err = otf2.err;
	}
	close_archive(&otf2);
	if (err == 0 && cause == OTF2_SUCCESS && otf2_ok(&otf2))
		err = number(trace, path);
	release(&otf2);
	if (cause != OTF2_SUCCESS || otf2.failed != OTF2_SUCCESS)
		return fail(&otf2, error);
	return err ? dagtap_error_set(error, err, "otf2: %s", strerror(-err)) : 0;
}

const struct format format_otf2 = {
	.name = "otf2",
	.extension = "",
	.help = "a folder for Vampir, Score-P's tools and otf2-print (docs/format/otf2.md)",
	.is_brief = true,
	.without_waits = true,
	.write_folder = write_folder,
	.folder_mark = ARCHIVE ".otf2",
};
