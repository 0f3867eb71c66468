/* The maker of a case, and planes as XLA writes them: maker_case.h. */
#include "maker_case.h"

#include <stdlib.h>

#include "format/xspace/xspace_reader.h"

static void release(void *object)
{
	struct maker *maker = object;

	proto_release(&maker->bytes);
	free(maker);
}

int maker_setup(void **state)
{
	*state = keep(calloc(1, sizeof(struct maker)), release);
	return 0;
}

struct trace *maker_open(struct maker *maker)
{
	struct dagtap_error error = {.message = ""};
	struct read_file file;
	struct trace *trace;

	maker_finish(maker);
	file = (struct read_file){"made", maker->bytes.bytes, maker->bytes.used};
	assert_true(xspace_is_likely(&file));
	if (xspace_open(&file, NULL, &trace, &error) < 0)
		fail_msg("%s", error.message);
	proto_release(&maker->bytes);
	*maker = (struct maker){0};
	return read_keep(trace);
}

void maker_gpu(struct maker *maker)
{
	maker_plane(maker, "/device:GPU:0", 0);
	maker_line(maker, 14, "Stream #14(Compute)", 1000);
}

void maker_kernel(struct maker *maker, const char *name, uint64_t ns, uint64_t cid)
{
	maker_event(maker, name, ns * 1000, 500000,
		    STATS(U64("correlation_id", cid), REF("kernel_details", MAKER_DETAILS)));
}

void maker_host(struct maker *maker)
{
	maker_plane(maker, "/host:CPU", 0);
	maker_line(maker, 650, "Host Threads/650", 1000);
}

void maker_call(struct maker *maker, const char *name, uint64_t ns, uint64_t cid)
{
	maker_event(maker, name, ns * 1000, 100000, STATS(U64("correlation_id", cid)));
}
