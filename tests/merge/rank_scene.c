/* Spools of ranks (rank_scene.h). */
#include "rank_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/spool_reader.h"
#include "trace/pack/bundle.h"
#include "trace/pack/pack.h"

#define STREAM 0x5000

enum { ARGUMENTS = 9 };

static void put_name(struct rank_scene *scene, enum rank_function function, const char *text)
{
	struct {
		struct record_api_name name;
		char text[96];
	} record = {.name = {.domain = RECORD_DOMAIN_RCCL, .text_bytes = (uint32_t)strlen(text)}};

	memcpy(record.text, text, strlen(text));
	scene_put(&scene->scene, 0, RECORD_API_NAME, function, &record,
		  sizeof(record.name) + (strlen(text) + 7) / 8 * 8);
}

void rank_scene_init(struct rank_scene *scene, uint32_t rank, uint32_t ranks, const char *host,
		     int64_t wall_ns)
{
	rank_scene_init_long(scene, rank, ranks, host, wall_ns, SCENE_CHUNKS);
}

void rank_scene_init_long(struct rank_scene *scene, uint32_t rank, uint32_t ranks, const char *host,
			  int64_t wall_ns, uint32_t chunks_most)
{
	static const char words[] = "count:s datatype:e op:e comm:h stream:h rank:i seq:u nranks:i "
				    "commId:u";
	struct spool_header *header;
	char text[128];

	*scene = (struct rank_scene){.communicator = 0xc0ffee, .rank = rank, .ranks = ranks};
	scene_init_long(&scene->scene, 100 + rank, chunks_most);
	header = (struct spool_header *)scene->scene.image;
	strncpy(header->host, host, sizeof(header->host) - 1);
	header->start_realtime_ns = (uint64_t)(wall_ns + (int64_t)header->start_ns);
	header->fixed_crc = spool_fixed_crc(header);
	strcpy(stpcpy(text, "ncclAllReduce "), words);
	put_name(scene, RANK_ALL_REDUCE, text);
	strcpy(stpcpy(text, "ncclBroadcast "), words);
	put_name(scene, RANK_BROADCAST, text);
	put_name(scene, RANK_GROUP_START, "ncclGroupStart");
	put_name(scene, RANK_GROUP_END, "ncclGroupEnd");
}

uint64_t rank_scene_tick(int64_t host_ns)
{
	return (uint64_t)(host_ns - 500) / 10;
}

void rank_scene_return(struct rank_scene *scene)
{
	struct {
		struct record_api api;
		uint64_t args[ARGUMENTS];
	} record = {
		.api = {.cid = scene->cid,
			.begin_ns = scene->scene.ns,
			.end_ns = scene->scene.ns + 1},
		.args = {1000, 7, 0, 0xc0, STREAM, scene->rank, scene->number, scene->ranks,
			 scene->call_communicator},
	};

	if (scene->cid)
		scene_put(&scene->scene, 0, RECORD_API, scene->function, &record, sizeof(record));
	scene->cid = 0;
}

uint64_t rank_scene_call(struct rank_scene *scene, enum rank_function function, uint64_t number)
{
	rank_scene_return(scene);
	scene->cid = scene_reserve_cid(&scene->scene);
	scene->function = function;
	scene->number = number;
	scene->call_communicator = scene->communicator;
	return scene->cid;
}

void rank_scene_kernel(struct rank_scene *scene, uint64_t cid, int64_t begin_ns, int64_t end_ns)
{
	struct {
		struct record_api api;
		uint64_t args[2];
	} launch = {
		.api = {.cid = scene_reserve_cid(&scene->scene),
			.parent = cid,
			.begin_ns = scene->scene.ns,
			.end_ns = scene->scene.ns + 1,
			.activities = 1},
		.args = {0x101, STREAM},
	};
	uint64_t packet;

	if (cid != scene->cid)
		rank_scene_return(scene);
	scene_put(&scene->scene, 0, RECORD_API, SCENE_LAUNCH_KERNEL, &launch, sizeof(launch));
	packet = scene_dispatch(&scene->scene, launch.api.cid, 0, 1, 1);
	scene_done(&scene->scene, packet, rank_scene_tick(begin_ns), rank_scene_tick(end_ns));
}

void rank_scene_cuda_kernel(struct rank_scene *scene, uint64_t cid, int64_t begin_ns,
			    int64_t end_ns)
{
	struct record_api launch = {.cid = scene_reserve_cid(&scene->scene),
				    .parent = cid,
				    .begin_ns = scene->scene.ns,
				    .end_ns = scene->scene.ns + 1};
	struct record_cuda_inner inner = {.cid = scene_reserve_cid(&scene->scene),
					  .outer = launch.cid};
	struct record_cuda_inner innermost = {.cid = scene_reserve_cid(&scene->scene),
					      .outer = inner.cid};
	struct record_cuda_kernel kernel = {.cid = innermost.cid,
					    .start = (uint64_t)begin_ns,
					    .end = (uint64_t)end_ns,
					    .context = 1,
					    .stream = 7};

	if (cid != scene->cid)
		rank_scene_return(scene);
	scene_put(&scene->scene, 0, RECORD_CUDA_INNER, 0, &innermost, sizeof(innermost));
	scene_put(&scene->scene, 0, RECORD_CUDA_INNER, 0, &inner, sizeof(inner));
	scene_put(&scene->scene, 0, RECORD_API, RECORD_CUDA_FUNCTION_RUNTIME + 211, &launch,
		  sizeof(launch));
	scene_put(&scene->scene, 1, RECORD_CUDA_KERNEL, 1, &kernel, sizeof(kernel));
}

void rank_scene_reduce(struct rank_scene *scene, uint64_t number, int64_t begin_ns, int64_t end_ns)
{
	rank_scene_kernel(scene, rank_scene_call(scene, RANK_ALL_REDUCE, number), begin_ns, end_ns);
}

void rank_scene_close(struct rank_scene *scene, int64_t end_ns)
{
	rank_scene_return(scene);
	scene->scene.ns = (uint64_t)end_ns;
	scene_close(&scene->scene);
}

/* ---- files ---- */

static void check(int result, const struct dagtap_error *error)
{
	if (result >= 0)
		return;
	fprintf(stderr, "rank_scene: %s\n", error->message);
	exit(1);
}

static int append(void *context, const void *bytes, size_t size)
{
	return bundle_append(context, bytes, size, NULL);
}

void rank_scene_write(const struct rank_scene *scene, const char *path)
{
	const struct bundle_meta meta = {"1", "train", 5, 0, NULL};
	struct bundle_writer *writer;
	struct spool_reader *reader;
	struct dagtap_error error;

	check(spool_reader_open_memory(scene->scene.image, scene_bytes(&scene->scene), "rank",
				       &reader, &error),
	      &error);
	check(bundle_create(path, true, &writer, &error), &error);
	check(bundle_put_meta(writer, &meta, &error), &error);
	check(bundle_begin_section(writer, BUNDLE_PACKED, scene->scene.pid, &error), &error);
	check(pack_write(reader, &(struct pack_sink){append, NULL, writer}), &error);
	check(bundle_end_section(writer, &error), &error);
	check(bundle_finish(writer, &error), &error);
	spool_reader_close(reader);
}
