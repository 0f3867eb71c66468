/*
 * raw-driver: writes AQL packets itself, as a runtime does: batches behind one doorbell, several
 * producers and queues, with and without completion signals, barrier bits, and dependencies between
 * queues. Each dispatch takes a ticket from one counter, so the program can check that every packet
 * ran exactly once, and in which order.
 */
#include "device.h"
#include "options.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPENDENCIES 5 /* signals of one barrier-AND packet, by the HSA specification */

struct kernel_arguments {
	uint64_t *counter;
	uint64_t *slot;
};

struct batch {
	uint32_t first; /* number of the first packet, counted over all producers */
	uint32_t count;
	hsa_signal_t signal; /* with COMPLETION_LAST only */
	const struct batch *dependencies[MAX_DEPENDENCIES];
};

struct driver;

struct producer {
	struct driver *driver;
	pthread_t thread;
	uint32_t number;
	uint32_t first;
	uint32_t packets;
	struct batch *batches;
	uint32_t batch_count;
	/* with COMPLETION_EACH: one for each packet of a batch */
	hsa_signal_t *each;
	/* the latest batch whose doorbell was rung; others may depend on it */
	_Atomic(const struct batch *) latest;
};

struct driver {
	struct options options;
	struct device device;
	hsa_queue_t **queues;
	struct producer *producers;
	struct kernel_arguments *arguments;
	uint64_t *tickets;
	uint64_t *counter;
	atomic_uint_fast64_t barriers;
	uint64_t raced; /* --race: not atomic on purpose */
};

/* The software GPU finds this function by name and runs it; a real GPU never calls it. */
__attribute__((visibility("default"))) void
softgpu_kernel_ticket(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);
void softgpu_kernel_ticket(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct kernel_arguments *a = kernarg;

	(void)packet;
	*a->slot = __atomic_fetch_add(a->counter, 1, __ATOMIC_RELAXED);
}

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		driver_fail("out of memory");
	return memory;
}

static hsa_queue_t *queue_of(const struct producer *p)
{
	return p->driver->queues[p->number % p->driver->options.queues];
}

/*
 * A batch may be larger than the ring: rings the doorbell for the packets that are written before
 * waiting for free slots.
 */
static void wait_for_room(hsa_queue_t *queue, uint64_t index)
{
	if (index - hsa_queue_load_read_index_scacquire(queue) < queue->size)
		return;
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)(index - 1));
	while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		sched_yield();
}

/*
 * Writes the body first, then header and setup in one release store: the packet processor takes the
 * packet when it sees a valid header.
 */
static void publish(hsa_queue_t *queue, uint64_t index, const void *packet, uint16_t header,
		    uint16_t setup)
{
	char *slot = (char *)queue->base_address + (index & (queue->size - 1)) * 64;

	wait_for_room(queue, index);
	memcpy(slot + 4, (const char *)packet + 4, 60);
	__atomic_store_n((uint32_t *)slot, header | (uint32_t)setup << 16, __ATOMIC_RELEASE);
}

static uint16_t packet_header(unsigned type, bool barrier)
{
	return (uint16_t)(type << HSA_PACKET_HEADER_TYPE |
			  (unsigned)barrier << HSA_PACKET_HEADER_BARRIER |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

static void write_dispatch(const struct producer *p, uint64_t index, uint32_t number,
			   hsa_signal_t signal)
{
	const struct driver *d = p->driver;
	uint32_t private_bytes = d->options.scratch ? d->options.scratch : d->device.private_bytes;
	hsa_kernel_dispatch_packet_t packet = {.workgroup_size_x = 1,
					       .workgroup_size_y = 1,
					       .workgroup_size_z = 1,
					       .grid_size_x = 1,
					       .grid_size_y = 1,
					       .grid_size_z = 1,
					       .private_segment_size = private_bytes,
					       .group_segment_size = d->device.group_bytes,
					       .kernel_object = d->device.kernel_object,
					       .kernarg_address = &d->arguments[number],
					       .completion_signal = signal};

	publish(queue_of(p), index, &packet,
		packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, d->options.barrier),
		1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
}

static void write_barrier(struct driver *d, hsa_queue_t *queue, uint64_t index,
			  const struct batch *batch, hsa_signal_t completion, bool barrier_bit)
{
	hsa_barrier_and_packet_t packet = {.completion_signal = completion};

	for (unsigned i = 0; batch && i < MAX_DEPENDENCIES && batch->dependencies[i]; i++)
		packet.dep_signal[i] = batch->dependencies[i]->signal;
	publish(queue, index, &packet, packet_header(HSA_PACKET_TYPE_BARRIER_AND, barrier_bit), 0);
	atomic_fetch_add(&d->barriers, 1);
}

/*
 * Call before reserving slots: the packets that the batch depends on then come earlier in every
 * queue.
 */
static void take_dependencies(const struct producer *p, struct batch *batch)
{
	const struct driver *d = p->driver;
	unsigned count = 0;

	for (uint32_t i = 1; i < d->options.producers && count < MAX_DEPENDENCIES; i++) {
		uint32_t other = (p->number + i) % d->options.producers;
		const struct batch *latest = atomic_load(&d->producers[other].latest);

		if (latest)
			batch->dependencies[count++] = latest;
	}
}

static hsa_signal_t signal_for(const struct producer *p, const struct batch *batch,
			       uint32_t position)
{
	if (p->driver->options.completion == COMPLETION_EACH)
		return p->each[position];
	if (position + 1 == batch->count)
		return batch->signal;
	return (hsa_signal_t){0};
}

static void submit(struct producer *p, struct batch *batch)
{
	struct driver *d = p->driver;
	hsa_queue_t *queue = queue_of(p);
	uint64_t lead = d->options.cross ? 1 : 0;
	uint64_t index;

	if (d->options.cross)
		take_dependencies(p, batch);
	index = hsa_queue_add_write_index_screlease(queue, lead + batch->count);
	if (d->options.cross)
		write_barrier(d, queue, index, batch, (hsa_signal_t){0}, false);
	for (uint32_t i = 0; i < batch->count; i++)
		write_dispatch(p, index + lead + i, batch->first + i, signal_for(p, batch, i));
	hsa_signal_store_screlease(queue->doorbell_signal,
				   (hsa_signal_value_t)(index + lead + batch->count - 1));
	atomic_store(&p->latest, batch);
	if (d->options.race)
		d->raced++;
}

static void wait_for(hsa_signal_t signal)
{
	if (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
				      HSA_WAIT_STATE_BLOCKED) != 0)
		driver_fail("a completion signal went below zero");
}

static void check_times(const struct driver *d, hsa_signal_t signal)
{
	hsa_amd_profiling_dispatch_time_t time;

	if (!d->options.profile)
		return;
	HSA_CHECK(hsa_amd_profiling_get_dispatch_time(d->device.gpu, signal, &time));
	if (time.start == 0 || time.end < time.start)
		driver_fail("a dispatch ran from %llu to %llu", (unsigned long long)time.start,
			    (unsigned long long)time.end);
}

static void wait_for_each(const struct producer *p, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		wait_for(p->each[i]);
		check_times(p->driver, p->each[i]);
		hsa_signal_store_relaxed(p->each[i], 1);
	}
}

static void *produce(void *argument)
{
	struct producer *p = argument;
	const struct options *o = &p->driver->options;
	uint32_t done = 0;

	for (uint32_t i = 0; i < p->batch_count; i++) {
		struct batch *batch = &p->batches[i];

		batch->first = p->first + done;
		batch->count = p->packets - done < o->batch ? p->packets - done : o->batch;
		if (o->completion == COMPLETION_LAST)
			HSA_CHECK(hsa_signal_create(1, 0, NULL, &batch->signal));
		submit(p, batch);
		if (o->completion == COMPLETION_EACH)
			wait_for_each(p, batch->count);
		done += batch->count;
	}
	return NULL;
}

static void producer_create(struct driver *d, uint32_t number)
{
	const struct options *o = &d->options;
	struct producer *p = &d->producers[number];
	uint32_t share = o->packets / o->producers;

	p->driver = d;
	p->number = number;
	p->first = number * share;
	p->packets = number + 1 == o->producers ? o->packets - p->first : share;
	p->batch_count = (p->packets + o->batch - 1) / o->batch;
	p->batches = allocate(p->batch_count, sizeof(*p->batches));
	if (o->completion != COMPLETION_EACH)
		return;
	p->each = allocate(o->batch, sizeof(*p->each));
	for (uint32_t i = 0; i < o->batch; i++)
		HSA_CHECK(hsa_signal_create(1, 0, NULL, &p->each[i]));
}

/* Call after drain(), when no packet in flight refers to the signals. */
static void producer_destroy(struct producer *p)
{
	const struct options *o = &p->driver->options;

	for (uint32_t i = 0; o->completion == COMPLETION_LAST && i < p->batch_count; i++) {
		wait_for(p->batches[i].signal);
		check_times(p->driver, p->batches[i].signal);
		HSA_CHECK(hsa_signal_destroy(p->batches[i].signal));
	}
	for (uint32_t i = 0; p->each && i < o->batch; i++)
		HSA_CHECK(hsa_signal_destroy(p->each[i]));
	free(p->each);
	free(p->batches);
}

static void driver_create(struct driver *d)
{
	const struct options *o = &d->options;

	device_open(&d->device);
	d->queues = allocate(o->queues, sizeof(hsa_queue_t *));
	d->producers = allocate(o->producers, sizeof(*d->producers));
	d->arguments = device_allocate(&d->device, o->packets * sizeof(*d->arguments));
	d->tickets = device_allocate(&d->device, o->packets * sizeof(*d->tickets));
	d->counter = device_allocate(&d->device, sizeof(*d->counter));
	for (uint32_t i = 0; i < o->packets; i++) {
		d->arguments[i] = (struct kernel_arguments){d->counter, &d->tickets[i]};
		d->tickets[i] = UINT64_MAX;
	}
	for (uint32_t i = 0; i < o->queues; i++) {
		HSA_CHECK(hsa_queue_create(d->device.gpu, o->ring, HSA_QUEUE_TYPE_MULTI, NULL, NULL,
					   UINT32_MAX, UINT32_MAX, &d->queues[i]));
		HSA_CHECK(hsa_amd_profiling_set_profiler_enabled(d->queues[i], o->profile));
	}
	for (uint32_t i = 0; i < o->producers; i++)
		producer_create(d, i);
}

static void driver_destroy(struct driver *d)
{
	const struct options *o = &d->options;

	for (uint32_t i = 0; i < o->producers; i++)
		producer_destroy(&d->producers[i]);
	for (uint32_t i = 0; i < o->queues; i++)
		HSA_CHECK(hsa_queue_destroy(d->queues[i]));
	HSA_CHECK(hsa_amd_memory_pool_free(d->counter));
	HSA_CHECK(hsa_amd_memory_pool_free(d->tickets));
	HSA_CHECK(hsa_amd_memory_pool_free(d->arguments));
	free(d->producers);
	free(d->queues);
	device_close(&d->device);
}

static void run(struct driver *d)
{
	for (uint32_t i = 0; i < d->options.producers; i++)
		if (pthread_create(&d->producers[i].thread, NULL, produce, &d->producers[i]))
			driver_fail("thread %u cannot be made", i);
	for (uint32_t i = 0; i < d->options.producers; i++)
		pthread_join(d->producers[i].thread, NULL);
}

/*
 * Submits to each queue a barrier packet with the barrier bit, which completes after all earlier
 * packets.
 */
static void drain(struct driver *d)
{
	for (uint32_t i = 0; i < d->options.queues; i++) {
		hsa_queue_t *queue = d->queues[i];
		uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
		hsa_signal_t done;

		HSA_CHECK(hsa_signal_create(1, 0, NULL, &done));
		write_barrier(d, queue, index, NULL, done, true);
		hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
		wait_for(done);
		HSA_CHECK(hsa_signal_destroy(done));
	}
}

static void check_once(const struct driver *d)
{
	bool *seen = allocate(d->options.packets, sizeof(*seen));

	if (*d->counter != d->options.packets)
		driver_fail("%llu of %u dispatches ran", (unsigned long long)*d->counter,
			    d->options.packets);
	for (uint32_t i = 0; i < d->options.packets; i++) {
		if (d->tickets[i] >= d->options.packets || seen[d->tickets[i]])
			driver_fail("dispatch %u drew ticket %llu", i,
				    (unsigned long long)d->tickets[i]);
		seen[d->tickets[i]] = true;
	}
	free(seen);
}

static void check_order_in_queue(const struct driver *d, const struct producer *p)
{
	for (uint32_t i = p->first + 1; i < p->first + p->packets; i++)
		if (d->tickets[i] < d->tickets[i - 1])
			driver_fail("dispatch %u overtook the one before it", i);
}

static void check_dependency(const struct driver *d, const struct batch *later,
			     const struct batch *earlier)
{
	/*
	 * Only the last packet of the earlier batch has the signal that the later batch waits for.
	 */
	uint64_t signalled = d->tickets[earlier->first + earlier->count - 1];

	for (uint32_t i = 0; i < later->count; i++)
		if (d->tickets[later->first + i] < signalled)
			driver_fail("dispatch %u did not wait for dispatch %u", later->first + i,
				    earlier->first + earlier->count - 1);
}

static void check(const struct driver *d)
{
	check_once(d);
	for (uint32_t i = 0; i < d->options.producers; i++) {
		const struct producer *p = &d->producers[i];

		if (d->options.barrier)
			check_order_in_queue(d, p);
		for (uint32_t b = 0; b < p->batch_count; b++)
			for (unsigned k = 0; k < MAX_DEPENDENCIES && p->batches[b].dependencies[k];
			     k++)
				check_dependency(d, &p->batches[b], p->batches[b].dependencies[k]);
	}
}

int main(int argc, char **argv)
{
	static struct driver driver;

	options_parse(argc, argv, &driver.options);
	driver_create(&driver);
	run(&driver);
	drain(&driver);
	check(&driver);
	driver_destroy(&driver);
	printf("barriers submitted: %llu\n", (unsigned long long)atomic_load(&driver.barriers));
	printf("kernels launched: %u\n", driver.options.packets);
	return EXIT_SUCCESS;
}
