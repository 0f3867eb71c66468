/* Builds spools in memory, record by record: scene.h. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "trace/load.h"

#define SESSION 77

static struct spool_header *header_of(const struct scene *scene)
{
	return (struct spool_header *)scene->image;
}

static struct spool_writer *spool_writer_of(const struct scene *scene, unsigned writer)
{
	return (struct spool_writer *)(scene->image + SPOOL_HEADER_BYTES) + writer;
}

static void make_header(struct scene *scene)
{
	struct spool_header *header = header_of(scene);

	spool_header_init(header);
	header->pid = scene->pid;
	header->ppid = 1;
	header->session_id = SESSION;
	header->start_ns = 1000 + scene->pid;
	header->start_realtime_ns = 5000;
	strcpy(header->exe, "/bin/scene");
	memcpy(header->cmdline, "scene\0two words", 16);
	header->cmdline_bytes = 16;
	header->fixed_crc = spool_fixed_crc(header);
	header->live.state = SPOOL_OPEN;
	header->live.writers_used = SCENE_WRITERS;
}

static void put_thread(struct scene *scene, unsigned writer);

static void seal(struct scene *scene, unsigned writer)
{
	struct spool_chunk *chunk = scene->chunk[writer];

	chunk->used_bytes = scene->used[writer];
	chunk->crc = spool_chunk_crc(chunk, chunk->used_bytes);
	chunk->state = SPOOL_CHUNK_SEALED;
}

static void next_chunk(struct scene *scene, unsigned writer)
{
	struct spool_chunk *chunk =
		(struct spool_chunk *)(scene->image + SPOOL_CHUNK_OFFSET) + scene->chunks;

	assert_true(scene->chunks < scene->chunks_most);
	if (scene->chunk[writer])
		seal(scene, writer);
	chunk->magic = SPOOL_CHUNK_MAGIC;
	chunk->index = scene->chunks++;
	chunk->session_id = SESSION;
	chunk->writer = writer;
	chunk->sequence = scene->sequence[writer]++;
	chunk->state = SPOOL_CHUNK_OPEN;
	scene->chunk[writer] = chunk;
	scene->used[writer] = SPOOL_CHUNK_HEAD_BYTES;
	spool_writer_of(scene, writer)->chunks++;
	header_of(scene)->live.chunks_taken = scene->chunks;
	header_of(scene)->live.chunks_ready = scene->chunks;
	put_thread(scene, writer);
}

static enum record_class class_of(enum record_type type)
{
	static const enum record_class classes[RECORD_TYPE_COUNT] = {
#define X(name, class) [RECORD_##name] = RECORD_CLASS_##class,
		RECORD_TYPES(X)
#undef X
	};

	return classes[type];
}

void scene_put(struct scene *scene, unsigned writer, enum record_type type, uint32_t tag,
	       const void *record, size_t bytes)
{
	size_t size = (bytes + 7) & ~(size_t)7;
	struct record_header header = {(uint16_t)type, (uint16_t)(size / 8), tag};
	unsigned char *place;

	if (scene->used[writer] + size > SPOOL_CHUNK_BYTES)
		next_chunk(scene, writer);
	place = (unsigned char *)scene->chunk[writer] + scene->used[writer];
	memcpy(place, record, bytes);
	memcpy(place, &header, sizeof(header));
	scene->used[writer] += size;
	spool_writer_of(scene, writer)->counts.attempted[class_of(type)]++;
}

static void put_thread(struct scene *scene, unsigned writer)
{
	struct record_thread record = {.ns = scene->ns, .name = "thread"};

	scene_put(scene, writer, RECORD_THREAD, 10 + writer, &record, sizeof(record));
}

void scene_drop(struct scene *scene, enum record_class class, enum record_drop cause)
{
	struct spool_writer *spool_writer = spool_writer_of(scene, 0);

	spool_writer->counts.attempted[class]++;
	spool_writer->counts.dropped[class][cause]++;
}

static void put_text(struct scene *scene, enum record_type type, uint32_t tag, void *fixed,
		     size_t fixed_bytes, const char *text)
{
	char record[512] = {0};

	memcpy(record, fixed, fixed_bytes);
	memcpy(record + fixed_bytes, text, strlen(text));
	scene_put(scene, 0, type, tag, record, fixed_bytes + strlen(text));
}

static void put_apis(struct scene *scene)
{
	static const char *const texts[] = {
		[SCENE_LAUNCH_KERNEL] = "hipLaunchKernel function:h stream:h",
		[SCENE_GRAPH_LAUNCH] = "hipGraphLaunch graphExec:h stream:h",
		[SCENE_MEMCPY] = "hipMemcpyAsync dst:p src:p sizeBytes:s kind:e stream:h",
		[SCENE_MEMSET] = "hipMemset dst:p value:i sizeBytes:s",
		[SCENE_MEMSET_3D] = "hipMemset3D pitchedDevPtr.ptr:p pitchedDevPtr.pitch:s value:i "
				    "extent.width:s extent.height:s extent.depth:s",
		[SCENE_COPY_TO_ARRAY] = "hipMemcpyToArray dst:p wOffset:s hOffset:s src:p count:s "
					"kind:e",
		[SCENE_STREAM_CREATE] = "hipStreamCreate stream:o",
		[SCENE_STREAM_DESTROY] = "hipStreamDestroy stream:h",
		[SCENE_GRAPH_SET_PARAMS] = "hipGraphExecKernelNodeSetParams hGraphExec:h node:h "
					   "pNodeParams:p",
		[SCENE_GRAPH_UPDATE] = "hipGraphExecUpdate hGraphExec:h hGraph:h "
				       "hErrorNode_out:o updateResult_out:o",
		[SCENE_MODULE_LAUNCH] =
			"hipModuleLaunchKernel f:h gridDimX:u gridDimY:u gridDimZ:u "
			"blockDimX:u blockDimY:u blockDimZ:u stream:h",
		[SCENE_LAUNCH_BY_PTR] = "hipLaunchByPtr func:p",
		[SCENE_SET_ENABLED] = "hipGraphNodeSetEnabled hGraphExec:h hNode:h isEnabled:u",
		[SCENE_LAUNCH_MULTI] = "hipExtLaunchMultiKernelMultiDevice launchParamsList:p "
				       "numDevices:i flags:u",
	};

	for (uint32_t function = 1; function < sizeof(texts) / sizeof(texts[0]); function++) {
		struct record_api_name record = {
			.domain = RECORD_DOMAIN_HIP,
			.text_bytes = strlen(texts[function]),
		};

		put_text(scene, RECORD_API_NAME, function, &record, sizeof(record),
			 texts[function]);
	}
}

static void put_kernels(struct scene *scene)
{
	static const char *const names[] = {"", "one", "two", "__amd_rocclr_fillBufferAligned",
					    "__amd_rocclr_copyBuffer"};

	for (uint32_t id = 1; id < 5; id++) {
		struct record_kernel record = {
			.kernel_object = 0x8000 + id * 64,
			.agent = SCENE_AGENT_GPU,
			.name_bytes = (uint32_t)strlen(names[id]),
		};

		put_text(scene, RECORD_KERNEL, id, &record, sizeof(record), names[id]);
	}
	for (uint32_t id = 1; id < 3; id++) {
		struct record_function record = {.ns = scene->ns, .handle = 0x100 + id};

		put_text(scene, RECORD_FUNCTION, (uint32_t)strlen(names[id]), &record,
			 sizeof(record), names[id]);
	}
}

static void put_machine(struct scene *scene)
{
	struct record_agent cpu = {.handle = SCENE_AGENT_CPU, .name = "cpu"};
	struct record_agent gpu = {
		.handle = SCENE_AGENT_GPU,
		.tick_hz = SCENE_TICK_HZ,
		.is_gpu = 1,
		.name = "gfx906",
	};
	struct record_queue queue = {
		.handle = 0x3000,
		.agent = SCENE_AGENT_GPU,
		.size = 4096,
		.mode = RECORD_QUEUE_HARVEST,
	};
	struct record_anchor anchors[] = {
		{.tick = 100, .host_ns = 1500, .uncertainty_ns = 10},
		{.tick = 100000100, .host_ns = 1000001500, .uncertainty_ns = 10},
	};

	scene_put(scene, 0, RECORD_AGENT, 0, &cpu, sizeof(cpu));
	scene_put(scene, 0, RECORD_AGENT, 1, &gpu, sizeof(gpu));
	scene_put(scene, 0, RECORD_QUEUE, 1, &queue, sizeof(queue));
	for (int i = 0; i < 2; i++)
		scene_put(scene, 0, RECORD_ANCHOR, 1, &anchors[i], sizeof(anchors[i]));
}

void scene_init(struct scene *scene, uint32_t pid)
{
	scene_init_long(scene, pid, SCENE_CHUNKS);
}

void scene_init_long(struct scene *scene, uint32_t pid, uint32_t chunks_most)
{
	*scene = (struct scene){.pid = pid, .chunks_most = chunks_most, .next_cid = 1, .ns = 2000};
	scene->image = calloc(1, SPOOL_CHUNK_OFFSET + (size_t)chunks_most * SPOOL_CHUNK_BYTES);
	assert_non_null(scene->image);
	make_header(scene);
	for (unsigned writer = 0; writer < SCENE_WRITERS; writer++)
		next_chunk(scene, writer);
	put_machine(scene);
	put_apis(scene);
	put_kernels(scene);
}

void scene_release(struct scene *scene)
{
	free(scene->image);
	scene->image = NULL;
}

struct trace *scene_take(struct scene *scene)
{
	scene->trace = scene_load(scene);
	scene_release(scene);
	return scene->trace;
}

struct trace *scene_finish(struct scene *scene)
{
	scene_close(scene);
	return scene_take(scene);
}

int scene_setup(void **state)
{
	static struct scene scene;

	scene_init(&scene, 1);
	*state = &scene;
	return 0;
}

int scene_teardown(void **state)
{
	struct scene *scene = *state;

	scene_release(scene);
	trace_close(scene->trace);
	return 0;
}

void scene_again(struct scene *scene)
{
	scene_release(scene);
	trace_close(scene->trace);
	scene_init(scene, 1);
}

uint64_t scene_reserve_cid(struct scene *scene)
{
	return scene->next_cid++;
}

static void put_call(struct scene *scene, unsigned writer, struct record_api *api,
		     enum scene_function function, const uint64_t *args, size_t arg_count)
{
	char record[sizeof(struct record_api) + 8 * sizeof(uint64_t)];

	api->begin_ns = scene->ns;
	api->end_ns = scene->ns + 100;

	scene->ns += 200;
	memcpy(record, api, sizeof(*api));
	if (arg_count)
		memcpy(record + sizeof(*api), args, arg_count * sizeof(*args));
	scene_put(scene, writer, RECORD_API, function, record,
		  sizeof(*api) + arg_count * sizeof(*args));
}

void scene_put_call(struct scene *scene, unsigned writer, uint64_t cid,
		    enum scene_function function, uint32_t activities, const uint64_t *args,
		    size_t arg_count)
{
	put_call(scene, writer, &(struct record_api){.cid = cid, .activities = activities},
		 function, args, arg_count);
}

uint64_t scene_failed_call(struct scene *scene, enum scene_function function)
{
	uint64_t cid = scene_reserve_cid(scene);

	put_call(scene, 0, &(struct record_api){.cid = cid, .result = 1}, function, NULL, 0);
	return cid;
}

uint64_t scene_call(struct scene *scene, enum scene_function function, uint32_t activities,
		    const uint64_t *args, size_t arg_count)
{
	uint64_t cid = scene_reserve_cid(scene);

	scene_put_call(scene, 0, cid, function, activities, args, arg_count);
	return cid;
}

uint64_t scene_dispatch(struct scene *scene, uint64_t cid, uint32_t ordinal, uint32_t kernel,
			uint32_t grid)
{
	struct record_dispatch record = {
		.packet_index = scene->next_packet++,
		.cid = cid,
		.ns = scene->ns,
		.kernel = kernel,
		.ordinal = ordinal,
		.grid = {grid, 1, 1},
		.workgroup = {1, 1, 1},
		.tid = 10,
	};

	scene_put(scene, 0, RECORD_DISPATCH, 1, &record, sizeof(record));
	return record.packet_index;
}

void scene_done(struct scene *scene, uint64_t packet, uint64_t start_tick, uint64_t end_tick)
{
	struct record_dispatch_done record = {
		.packet_index = packet,
		.start_tick = start_tick,
		.end_tick = end_tick,
	};

	scene_put(scene, 1, RECORD_DISPATCH_DONE, 1, &record, sizeof(record));
}

void scene_run(struct scene *scene, uint64_t cid, uint32_t ordinal, uint32_t kernel, uint32_t grid)
{
	uint64_t packet = scene_dispatch(scene, cid, ordinal, kernel, grid);

	scene_done(scene, packet, 1000 * (packet + 1), 1000 * (packet + 1) + 100);
}

void scene_run_calls(struct scene *scene, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t cid = scene_call(scene, SCENE_LAUNCH_KERNEL, 1, (uint64_t[]){0x101, 0}, 2);

		scene_run(scene, cid, 0, 1, 1);
	}
}

void scene_gate(struct scene *scene, unsigned writer, uint64_t dispatches, uint64_t write_index)
{
	struct record_queue_count record = {
		.ns = scene->ns,
		.write_index = write_index,
		.dispatches = dispatches,
	};

	scene_put(scene, writer, RECORD_QUEUE_COUNT, 1, &record, sizeof(record));
}

void scene_witness(struct scene *scene, const char *source, const char *key, uint64_t value)
{
	struct record_witness record = {.ns = scene->ns, .value = value};

	strncpy(record.source, source, sizeof(record.source) - 1);
	strncpy(record.key, key, sizeof(record.key) - 1);
	scene_put(scene, 0, RECORD_WITNESS, 0, &record, sizeof(record));
}

void scene_say(struct scene *scene, const char *name, enum record_source_state state,
	       const char *text)
{
	struct record_source record = {.ns = scene->ns++, .text_bytes = strlen(text)};

	strncpy(record.name, name, sizeof(record.name) - 1);
	put_text(scene, RECORD_SOURCE, state, &record, sizeof(record), text);
}

void scene_node_recorded(struct scene *scene, uint64_t node, uint64_t cid)
{
	struct record_node_recorded record = {.node = node, .cid = cid, .ns = scene->ns};

	scene_put(scene, 0, RECORD_NODE_RECORDED, 0, &record, sizeof(record));
}

void scene_graph(struct scene *scene, uint64_t graph, uint64_t exec, uint32_t count,
		 const uint64_t *functions, const uint32_t *grids)
{
	struct record_graph record = {
		.graph_id = graph,
		.node_count = count,
		.edge_count = count - 1,
	};
	struct record_graph_exec exec_record = {
		.exec_id = exec, .graph_id = graph, .handle = SCENE_EXEC_HANDLE(exec)};

	scene_put(scene, 0, RECORD_GRAPH, 0, &record, sizeof(record));
	for (uint32_t i = 0; i < count; i++) {
		struct record_graph_node node = {
			.graph_id = graph,
			.handle = SCENE_NODE_HANDLE(graph, i),
			.type = RECORD_NODE_KERNEL,
			.function = functions[i],
			.grid = {grids[i], 1, 1},
			.block = {1, 1, 1},
			.ns = scene->ns,
		};
		struct record_graph_edge edge = {.graph_id = graph, .from = i, .to = i + 1};

		scene_put(scene, 0, RECORD_GRAPH_NODE, i, &node, sizeof(node));
		if (i + 1 < count)
			scene_put(scene, 0, RECORD_GRAPH_EDGE, 0, &edge, sizeof(edge));
	}
	scene_put(scene, 0, RECORD_GRAPH_EXEC, 0, &exec_record, sizeof(exec_record));
}

void scene_graph_launch(struct scene *scene, uint64_t exec, uint64_t replay, uint64_t cid)
{
	struct record_graph_launch record = {.exec_id = exec, .replay = replay, .cid = cid};

	scene_put(scene, 0, RECORD_GRAPH_LAUNCH, 0, &record, sizeof(record));
}

void scene_close(struct scene *scene)
{
	struct spool_live *live = &header_of(scene)->live;

	for (unsigned writer = 0; writer < SCENE_WRITERS; writer++)
		seal(scene, writer);
	live->end_ns = scene->ns;
	live->counts_crc = spool_counts_crc(live, spool_writer_of(scene, 0), SCENE_WRITERS);
	live->state = SPOOL_CLOSED;
}

size_t scene_bytes(const struct scene *scene)
{
	return SPOOL_CHUNK_OFFSET + (size_t)scene->chunks * SPOOL_CHUNK_BYTES;
}

struct trace *scene_load(const struct scene *scene)
{
	struct dagtap_error error;
	struct trace *trace;
	int result = trace_open_memory("scene", scene->image, scene_bytes(scene), &trace, &error);

	if (result < 0)
		fail_msg("%s", error.message);
	return trace;
}

struct trace *scene_load_with(const struct scene *scene, const struct trace_options *options)
{
	char path[TEST_PATH_BYTES];
	struct dagtap_error error;
	struct trace *trace;
	int fd = mkstemp(test_path(path, "scene"));

	assert_true(fd >= 0);
	assert_int_equal(write(fd, scene->image, scene_bytes(scene)), scene_bytes(scene));
	close(fd);
	if (trace_open(path, options, &trace, &error) < 0)
		fail_msg("%s", error.message);
	unlink(path);
	return trace;
}

void scene_put_spool(const struct scene *scene, const char *folder)
{
	char path[2 * TEST_PATH_BYTES];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%u.spool", folder, scene->pid);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(scene->image, 1, scene_bytes(scene), file), scene_bytes(scene));
	assert_int_equal(fclose(file), 0);
}

void scene_remove_spool(const char *folder, uint32_t pid)
{
	char path[2 * TEST_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%u.spool", folder, pid);
	assert_int_equal(unlink(path), 0);
}

uint64_t scene_unexplained(const struct trace *trace)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < trace->sources_count; i++)
		sum += trace->sources[i].unexplained;
	return sum;
}

const struct trace_source *scene_source(const struct trace *trace, const char *name)
{
	for (uint32_t i = 0; i < trace->sources_count; i++) {
		if (!strcmp(trace_text(trace, trace->sources[i].name), name))
			return &trace->sources[i];
	}
	fail_msg("no line \"%s\" in the ledger", name);
	return NULL;
}
