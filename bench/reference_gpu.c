/* The GPUs of the reference run and what a tracer records of them: reference_gpu.h. */
#include "reference_gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS		10 /* 100 MHz */
#define RING_SLOTS	8192
#define LATENCY_NS	4200
#define COPY_LATENCY_NS 9000
#define QUEUE_PACKETS	16384
/*
 * Each GPU's clock differs from its nominal rate by this much, and swings by 0.8 ppm over ten
 * seconds.
 */
#define DRIFT_PPM	7
#define SWING_NS	2000
#define SWING_PERIOD_NS 10000000000u

/* An activity in progress, until the monitor has recorded its end. */
struct outstanding {
	uint64_t id; /* packet index or copy id */
	uint64_t start_ns;
	uint64_t end_ns;
};

struct ring {
	struct outstanding slots[RING_SLOTS];
	uint64_t head, tail;
};

struct queue {
	uint64_t next_packet;
	uint64_t dispatches;
	uint64_t barriers;
	uint64_t busy_until_ns;
	struct ring ring;
};

struct gpu {
	struct queue queues[REFERENCE_QUEUES];
	uint64_t engine_until_ns[REFERENCE_P2P + 1];
};

struct reference_machine {
	const struct reference_kernel *kernels;
	struct spool_stream *monitor;
	struct reference_random random;
	uint64_t looks;
	uint64_t copies;
	struct gpu gpus[REFERENCE_GPUS];
	struct ring copy_ring;
};

int reference_machine_create(const struct reference_kernel *kernels, uint64_t seed,
			     struct spool_stream *stream, struct reference_machine **ret_machine)
{
	struct reference_machine *machine = calloc(1, sizeof(*machine));

	if (!machine)
		return -ENOMEM;
	machine->kernels = kernels;
	machine->monitor = stream;
	machine->random.state = seed;
	*ret_machine = machine;
	return 0;
}

void reference_machine_destroy(struct reference_machine *machine)
{
	free(machine);
}

uint64_t reference_agent_handle(uint32_t agent_index)
{
	return reference_handle(0x55d39e000000, agent_index, 0x8000);
}

static uint32_t queue_id(uint32_t gpu, uint32_t queue)
{
	return 1 + gpu * REFERENCE_QUEUES + queue;
}

static uint32_t kernel_id(uint32_t gpu, uint32_t kernel)
{
	return 1 + gpu * REFERENCE_KERNELS_LOADED + kernel;
}

static uint64_t kernel_object(uint32_t gpu, uint32_t kernel)
{
	return reference_handle(0x7f2000000000 + ((uint64_t)gpu << 28), kernel, 0x1000);
}

struct reference_work reference_work_of(const struct reference_machine *machine, uint32_t kernel)
{
	const struct reference_kernel *from = &machine->kernels[kernel];
	struct reference_work work = {
		.kernel = kernel,
		.group_bytes = from->group_bytes,
		.duration_ns = from->duration_ns,
	};

	memcpy(work.blocks, from->blocks, sizeof(work.blocks));
	memcpy(work.block, from->block, sizeof(work.block));
	return work;
}

/* ---- first appearances ---- */

void reference_put_agents(struct spool_stream *stream)
{
	for (uint32_t i = 0; i < REFERENCE_CPU_AGENTS + REFERENCE_GPUS; i++) {
		struct record_agent *record =
			spool_stream_put(stream, RECORD_AGENT, sizeof(*record), i);

		record->handle = reference_agent_handle(i);
		if (i < REFERENCE_CPU_AGENTS) {
			strcpy(record->name, "AMD EPYC 9684X");
			continue;
		}
		record->tick_hz = 1000000000 / TICK_NS;
		record->is_gpu = 1;
		record->gpu_ordinal = i - REFERENCE_CPU_AGENTS;
		strcpy(record->name, "gfx942");
		strcpy(record->product, "AMD Instinct MI300X");
		record->memory_bytes = (uint64_t)192 << 30;
		record->compute_units = 304;
		record->wave_size = 64;
		snprintf(record->uuid, sizeof(record->uuid), "GPU-%016x", record->gpu_ordinal);
	}
}

void reference_put_queue(struct spool_stream *stream, uint32_t gpu, uint32_t queue)
{
	struct record_queue *record =
		spool_stream_put(stream, RECORD_QUEUE, sizeof(*record), queue_id(gpu, queue));

	record->ns = stream->now_ns;
	record->handle = reference_handle(0x7f3c00000000, queue_id(gpu, queue), 0x10000);
	record->agent = reference_agent_handle(reference_gpu_agent(gpu));
	record->size = QUEUE_PACKETS;
	record->mode = RECORD_QUEUE_HARVEST;
}

void reference_put_kernels(const struct reference_machine *machine, struct spool_stream *stream,
			   uint32_t gpu)
{
	for (uint32_t i = 0; i < REFERENCE_KERNELS_LOADED; i++) {
		const struct reference_kernel *kernel = &machine->kernels[i];
		struct record_kernel record = {
			.ns = stream->now_ns,
			.kernel_object = kernel_object(gpu, i),
			.agent = reference_agent_handle(reference_gpu_agent(gpu)),
			.kernarg_bytes = 256,
			.group_bytes = kernel->group_bytes,
			.name_bytes = (uint32_t)strlen(kernel->name),
		};

		spool_stream_put_text(stream, RECORD_KERNEL, kernel_id(gpu, i), &record,
				      offsetof(struct record_kernel, name), kernel->name);
	}
}

/* ---- completions ---- */

/*
 * Returns the device's tick at monotonic time NS. Each device's clock has its own rate and starts
 * when the machine is switched on.
 */
static uint64_t tick_at(uint32_t gpu, uint64_t ns)
{
	uint64_t since_ns = ns - REFERENCE_START_NS;
	uint64_t phase_ns = since_ns % SWING_PERIOD_NS;
	uint64_t away_ns = phase_ns < SWING_PERIOD_NS / 2 ? phase_ns : SWING_PERIOD_NS - phase_ns;

	return ((uint64_t)(gpu + 1) << 32) + (since_ns + since_ns * gpu * DRIFT_PPM / 1000000 +
					      away_ns * SWING_NS / SWING_PERIOD_NS * 2) /
						     TICK_NS;
}

static void put_done(struct reference_machine *machine, uint32_t ring,
		     const struct outstanding *what)
{
	uint32_t gpu = ring / REFERENCE_QUEUES;

	if (ring == REFERENCE_GPUS * REFERENCE_QUEUES) {
		struct record_copy_done *record = spool_stream_put(
			machine->monitor, RECORD_COPY_DONE, sizeof(*record), RECORD_UNTIMED_NO);

		record->copy_id = what->id;
		record->start = what->start_ns;
		record->end = what->end_ns;
	} else {
		struct record_dispatch_done *record =
			spool_stream_put(machine->monitor, RECORD_DISPATCH_DONE, sizeof(*record),
					 queue_id(gpu, ring % REFERENCE_QUEUES));

		record->packet_index = what->id;
		record->start_tick = tick_at(gpu, what->start_ns);
		record->end_tick = tick_at(gpu, what->end_ns);
	}
}

static struct ring *ring_at(struct reference_machine *machine, uint32_t index)
{
	struct gpu *gpu = &machine->gpus[index / REFERENCE_QUEUES];

	if (index == REFERENCE_GPUS * REFERENCE_QUEUES)
		return &machine->copy_ring;
	return &gpu->queues[index % REFERENCE_QUEUES].ring;
}

/* Some activities that ended together are recorded in reverse order. */
static void collect_ring(struct reference_machine *machine, uint32_t index, uint64_t now_ns)
{
	struct ring *ring = ring_at(machine, index);

	while (ring->head < ring->tail && ring->slots[ring->head % RING_SLOTS].end_ns <= now_ns) {
		struct outstanding *first = &ring->slots[ring->head % RING_SLOTS];
		struct outstanding *second = &ring->slots[(ring->head + 1) % RING_SLOTS];

		if (ring->head + 1 < ring->tail && second->end_ns <= now_ns &&
		    reference_random(&machine->random) % 16 == 0) {
			put_done(machine, index, second);
			*second = *first;
		} else {
			put_done(machine, index, first);
		}
		ring->head++;
	}
}

void reference_collect(struct reference_machine *machine, uint64_t now_ns)
{
	const uint32_t rings = REFERENCE_GPUS * REFERENCE_QUEUES + 1;

	for (uint32_t i = 0; i < rings; i++)
		collect_ring(machine, (uint32_t)((machine->looks + i) % rings), now_ns);
	machine->looks += 5;
}

static void await(struct reference_machine *machine, uint32_t index, struct outstanding what)
{
	struct ring *ring = ring_at(machine, index);

	/* No free slot: the submitting thread waits for the oldest activity. */
	if (ring->tail - ring->head == RING_SLOTS)
		collect_ring(machine, index, ring->slots[ring->head % RING_SLOTS].end_ns);
	ring->slots[ring->tail++ % RING_SLOTS] = what;
}

/* ---- submission ---- */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct outstanding run(struct reference_machine *machine, uint64_t *busy_until_ns,
			      uint64_t ready_ns, uint32_t duration_ns)
{
	uint64_t start_ns = later(ready_ns, *busy_until_ns + 300);
	uint32_t spread_ns = duration_ns / 8 + 1;

	*busy_until_ns = start_ns + duration_ns - spread_ns / 2 +
			 reference_random(&machine->random) % spread_ns;
	return (struct outstanding){.start_ns = start_ns, .end_ns = *busy_until_ns};
}

void reference_dispatch(struct reference_machine *machine, uint32_t gpu, uint32_t queue,
			struct reference_submitter *by, const struct reference_work *work)
{
	struct queue *to = &machine->gpus[gpu].queues[queue];
	struct record_dispatch *record = spool_stream_put(by->stream, RECORD_DISPATCH,
							  sizeof(*record), queue_id(gpu, queue));
	struct outstanding outstanding =
		run(machine, &to->busy_until_ns, by->ns + LATENCY_NS, work->duration_ns);

	record->packet_index = to->next_packet;
	record->cid = by->cid;
	record->scope = by->scope;
	record->ns = by->ns;
	record->kernel_object = kernel_object(gpu, work->kernel);
	record->kernel = kernel_id(gpu, work->kernel);
	record->ordinal = by->ordinal++;
	for (int i = 0; i < 3; i++) {
		record->grid[i] = work->blocks[i] * work->block[i];
		record->workgroup[i] = work->block[i];
	}
	record->setup = 3;
	record->group_bytes = work->group_bytes;
	record->packet_header = 0x1502;
	record->tid = by->stream->thread.tid;
	outstanding.id = to->next_packet++;
	to->dispatches++;
	await(machine, gpu * REFERENCE_QUEUES + queue, outstanding);
}

/* Waits for the other queue's work so far. */
void reference_barrier(struct reference_machine *machine, uint32_t gpu, uint32_t queue,
		       struct reference_submitter *by)
{
	struct queue *to = &machine->gpus[gpu].queues[queue];
	struct queue *other = &machine->gpus[gpu].queues[REFERENCE_BRANCH - queue];
	struct record_barrier *record =
		spool_stream_put(by->stream, RECORD_BARRIER, sizeof(*record), queue_id(gpu, queue));

	record->packet_index = to->next_packet++;
	record->cid = by->cid;
	record->ns = by->ns;
	record->dep_signal[0] = 0x7f5800000000 + other->next_packet % QUEUE_PACKETS * 0x80;
	record->packet_header = 0x1503;
	record->ordinal = by->ordinal++;
	to->barriers++;
	to->busy_until_ns = later(to->busy_until_ns, other->busy_until_ns);
}

void reference_copy(struct reference_machine *machine, uint32_t gpu, struct reference_submitter *by,
		    const struct reference_transfer *transfer)
{
	bool is_download = transfer->kind == REFERENCE_D2H;
	uint32_t other = transfer->kind == REFERENCE_P2P
				 ? reference_gpu_agent((gpu + 1) % REFERENCE_GPUS)
				 : gpu * REFERENCE_CPU_AGENTS / REFERENCE_GPUS;
	uint64_t near = reference_buffer(gpu, transfer->place), far = near + REFERENCE_FAR_SIDE;
	struct record_copy *record =
		spool_stream_put(by->stream, RECORD_COPY, sizeof(*record), RECORD_COPY_LINEAR);
	struct outstanding outstanding =
		run(machine, &machine->gpus[gpu].engine_until_ns[transfer->kind],
		    by->ns + COPY_LATENCY_NS, (uint32_t)(transfer->bytes / 48) + 2000);

	outstanding.id = ++machine->copies;
	record->copy_id = outstanding.id;
	record->cid = by->cid;
	record->scope = by->scope;
	record->ns = by->ns;
	record->dst = is_download ? far : near;
	record->src = is_download ? near : far;
	record->bytes = transfer->bytes;
	record->dst_agent = reference_agent_handle(is_download ? other : reference_gpu_agent(gpu));
	record->src_agent = reference_agent_handle(is_download ? reference_gpu_agent(gpu) : other);
	record->completion_signal = 0x7f5900000000 + machine->copies % RING_SLOTS * 0x80;
	record->ordinal = by->ordinal++;
	record->tid = by->stream->thread.tid;
	await(machine, REFERENCE_GPUS * REFERENCE_QUEUES, outstanding);
}

uint64_t reference_gpu_idle_ns(const struct reference_machine *machine, uint32_t gpu)
{
	uint64_t idle_ns = 0;

	for (uint32_t i = 0; i < REFERENCE_QUEUES; i++)
		idle_ns = later(idle_ns, machine->gpus[gpu].queues[i].busy_until_ns);
	for (uint32_t i = 0; i <= REFERENCE_P2P; i++)
		idle_ns = later(idle_ns, machine->gpus[gpu].engine_until_ns[i]);
	return idle_ns;
}

uint64_t reference_activities(const struct reference_machine *machine)
{
	uint64_t count = machine->copies;

	for (uint32_t i = 0; i < REFERENCE_GPUS * REFERENCE_QUEUES; i++)
		count +=
			machine->gpus[i / REFERENCE_QUEUES].queues[i % REFERENCE_QUEUES].dispatches;
	return count;
}

/* ---- samples ---- */

static void put_anchor(struct reference_machine *machine, struct spool_stream *stream, uint32_t gpu)
{
	struct record_anchor *record =
		spool_stream_put(stream, RECORD_ANCHOR, sizeof(*record), reference_gpu_agent(gpu));
	uint64_t ns = stream->now_ns + (uint64_t)gpu * 900;

	record->tick = tick_at(gpu, ns);
	record->uncertainty_ns = 80 + reference_random(&machine->random) % 60;
	record->host_ns = ns + reference_random(&machine->random) % 40;
	record->system_ns = record->host_ns;
}

static void put_count(struct reference_machine *machine, struct spool_stream *stream,
		      uint32_t index)
{
	const struct queue *queue =
		&machine->gpus[index / REFERENCE_QUEUES].queues[index % REFERENCE_QUEUES];
	struct record_queue_count *record =
		spool_stream_put(stream, RECORD_QUEUE_COUNT, sizeof(*record),
				 queue_id(index / REFERENCE_QUEUES, index % REFERENCE_QUEUES));

	record->ns = stream->now_ns;
	record->write_index = queue->next_packet;
	record->dispatches = queue->dispatches;
	record->barriers = queue->barriers;
}

void reference_put_witness(struct spool_stream *stream, const char *source, const char *key,
			   uint64_t value)
{
	struct record_witness *record =
		spool_stream_put(stream, RECORD_WITNESS, sizeof(*record), 0);

	record->ns = stream->now_ns;
	record->value = value;
	memcpy(record->source, source, strlen(source));
	memcpy(record->key, key, strlen(key));
}

void reference_put_samples(struct reference_machine *machine, struct spool_stream *stream)
{
	for (uint32_t gpu = 0; gpu < REFERENCE_GPUS; gpu++)
		put_anchor(machine, stream, gpu);
	for (uint32_t i = 0; i < REFERENCE_GPUS * REFERENCE_QUEUES; i++)
		put_count(machine, stream, i);
	reference_put_witness(stream, "hsa", "copies_started", machine->copies);
	reference_put_witness(stream, "hsa", "dispatches_without_context", 0);
	reference_put_witness(stream, "hsa", "reservations_lost", 0);
	reference_put_witness(stream, "hsa", "packets_untraced", 0);
}
