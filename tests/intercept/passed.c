/* intercept-passed: a HIP call submits a kernel, a barrier and a packet of AMD's own format while
 * another thread holds the queue's gate. That thread passes them to the device; the call waits for
 * it, and knows at its return what they were. HIP is a dispatch table of this program. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "../tables/model_tables.h"
#include "base/inject.h"
#include "device_queue.h"
#include "held.h"

typedef int set_api_table(const char *name, uint64_t lib_version, uint64_t lib_instance,
			  void **tables, uint64_t table_count);

static struct model_table hip = {.size = HIP_TABLE_BYTES};
static hsa_queue_t *queue;
static hsa_signal_t ready; /* has the value 0, for which the third packet waits */

/* ---- HIP ---- */

static int launch_packets(const void *function, struct grid blocks, struct grid threads,
			  void **arguments, size_t shared_bytes, void *stream)
{
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 3);
	hsa_barrier_and_packet_t barrier = {0};
	hsa_amd_barrier_value_packet_t value = {
		.header = {.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE},
		.signal = ready,
		.mask = -1,
		.cond = HSA_SIGNAL_CONDITION_EQ,
	};
	hsa_kernel_dispatch_packet_t packet;

	dispatch_fill(&packet, 0, (hsa_signal_t){0});
	packet_put(queue, index, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
	packet_put(queue, index + 1, &barrier, HSA_PACKET_TYPE_BARRIER_AND);
	packet_put(queue, index + 2, &value, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
	queue_ring(queue, index + 2);
	return 0;
}

static void launch(void)
{
	launch_kernel *function = (launch_kernel *)*model_slot(&hip, AT_LAUNCH_KERNEL);
	struct grid one = {1, 1, 1};

	function(NULL, one, one, NULL, 0, NULL);
}

/* ---- what dagtap tells ---- */

static void enter(const struct inject_call *call)
{
	(void)call;
}

static void leave(const struct inject_call *call)
{
	printf("call: %u kernels, %u copies, %u unknown\n", call->dispatches, call->copies,
	       call->unknown);
}

static const struct inject_observer observer = {.enter = enter, .leave = leave};

static void attach(void)
{
	set_api_table *set = (set_api_table *)dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table");
	const struct inject_table *injected = dlsym(RTLD_DEFAULT, INJECT_SYMBOL);
	void *tables[] = {&hip};

	*model_slot(&hip, AT_LAUNCH_KERNEL) = (void *)launch_packets;
	if (!set || !injected || set("hip", 70200, 0, tables, 1))
		driver_fail("dagtap is not there");
	injected->observe(&observer);
}

/* ---- the threads ---- */

/* Stops in the gate, which it holds. */
static void *hold_gate(void *unused)
{
	held_arm();
	queue_run(queue, 1);
	return unused;
}

/* Lets the holder go on when the launching thread waits for it. */
static void *release_gate(void *unused)
{
	held_await();
	held_release();
	return unused;
}

int main(void)
{
	pthread_t holder, releaser;

	device_start();
	queue = queue_make(64);
	ready = signal_make(0);
	attach();
	launch();
	if (pthread_create(&holder, NULL, hold_gate, NULL))
		driver_fail("no thread");
	held_await();
	if (pthread_create(&releaser, NULL, release_gate, NULL))
		driver_fail("no thread");
	held_arm();
	launch();
	pthread_join(releaser, NULL);
	pthread_join(holder, NULL);
	queue_drain(queue);
	HSA_CHECK(hsa_signal_destroy(ready));
	HSA_CHECK(hsa_queue_destroy(queue));
	device_end();
	return 0;
}
