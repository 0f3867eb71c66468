/* intercept-reads: checks how the interceptor reads a packet from the ring, which may lie in
 * device memory. While a doorbell rings, one page of the ring is closed with mprotect. Each
 * instruction that accesses the page faults; the handler notes the access and single-steps the
 * instruction. The interceptor must read the header of a packet first and once, must read the
 * body once and in the same way for every packet type, and must write nothing but the completion
 * signal of a kernel that had none.
 *
 * The device's threads take no signals, so the device must not reach the closed page: the last
 * packet of the page before it is a barrier packet that waits for this program. */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ucontext.h>

#include "device_queue.h"

#define PACKET_BYTES	 64
#define PAGE_BYTES	 4096
#define PAGE_PACKETS	 (PAGE_BYTES / PACKET_BYTES)
#define RING		 (2 * PAGE_PACKETS)
#define ACCESSES_MOST	 64
/* A copy of 62 bytes in words of 8 bytes, plus smaller accesses at both ends. */
#define BODY_READS_MOST	 10
#define SIGNAL_OFFSET	 56
#define FAULT_IS_A_WRITE 2
#define FLAG_STEP	 0x100

struct accesses {
	uint32_t reads, writes;
	uint32_t read_at[ACCESSES_MOST], written_at[ACCESSES_MOST]; /* offsets in the page */
};

static char *page;
static struct accesses noted;

static void protect(int how)
{
	if (mprotect(page, PAGE_BYTES, how))
		driver_fail("mprotect");
}

static void note(uint32_t offset, bool writes)
{
	uint32_t *count = writes ? &noted.writes : &noted.reads;

	if (*count < ACCESSES_MOST)
		(writes ? noted.written_at : noted.read_at)[*count] = offset;
	++*count;
}

static void handle_access(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t offset = (uintptr_t)info->si_addr - (uintptr_t)page;

	if (offset >= PAGE_BYTES) {
		signal(number, SIG_DFL);
		return;
	}
	note((uint32_t)offset, registers[REG_ERR] & FAULT_IS_A_WRITE);
	protect(PROT_READ | PROT_WRITE);
	registers[REG_EFL] |= FLAG_STEP;
}

static void handle_step(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~FLAG_STEP;
	protect(PROT_NONE);
}

static void watch_faults(void)
{
	struct sigaction access = {.sa_sigaction = handle_access, .sa_flags = SA_SIGINFO};
	struct sigaction step = {.sa_sigaction = handle_step, .sa_flags = SA_SIGINFO};

	sigaction(SIGSEGV, &access, NULL);
	sigaction(SIGTRAP, &step, NULL);
}

/* Rings the doorbell for PACKET and returns the accesses, as offsets in the packet. */
static struct accesses ring_for(hsa_queue_t *queue, const void *packet, uint16_t type)
{
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
	uint32_t base = (uint32_t)(index % PAGE_PACKETS * PACKET_BYTES);

	packet_put(queue, index, packet, (uint16_t)(type | HEADER_BARRIER));
	noted = (struct accesses){0};
	protect(PROT_NONE);
	queue_ring(queue, index);
	protect(PROT_READ | PROT_WRITE);
	for (uint32_t i = 0; i < noted.reads && i < ACCESSES_MOST; i++)
		noted.read_at[i] -= base;
	for (uint32_t i = 0; i < noted.writes && i < ACCESSES_MOST; i++)
		noted.written_at[i] -= base;
	return noted;
}

static void print_reads(const char *what, const struct accesses *a)
{
	printf("%s: reads at", what);
	for (uint32_t i = 0; i < a->reads && i < ACCESSES_MOST; i++)
		printf(" %u", a->read_at[i]);
	printf(", %u writes\n", a->writes);
}

/* Checks that the header is read first, that no place is read twice, and that there are no more
 * reads than one copy needs. */
static void check_reads(const char *what, const struct accesses *a)
{
	print_reads(what, a);
	if (a->reads < 2 || a->reads > 1 + BODY_READS_MOST || a->read_at[0] != 0)
		driver_fail("the header is not read first, or the body more than once");
	for (uint32_t i = 0; i < a->reads; i++) {
		if (a->read_at[i] >= PACKET_BYTES)
			driver_fail("another packet was read");
		for (uint32_t k = 0; k < i; k++) {
			if (a->read_at[i] == a->read_at[k])
				driver_fail("a part of the packet was read twice");
		}
	}
}

static void check_same(const struct accesses *a, const struct accesses *b)
{
	if (a->reads != b->reads || memcmp(a->read_at, b->read_at, sizeof(a->read_at)) != 0)
		driver_fail("packets of two types were not read in the same way");
}

/* The accesses for a kernel with and without a completion signal, and for a barrier packet. */
struct noted_packets {
	struct accesses with_signal, without, barrier;
};

static struct noted_packets ring_for_packets(hsa_queue_t *queue, hsa_signal_t done)
{
	hsa_barrier_and_packet_t barrier = {0};
	hsa_kernel_dispatch_packet_t kernel;
	struct noted_packets result;

	watch_faults();
	dispatch_fill(&kernel, 0, done);
	result.with_signal = ring_for(queue, &kernel, HSA_PACKET_TYPE_KERNEL_DISPATCH);
	kernel.completion_signal.handle = 0;
	result.without = ring_for(queue, &kernel, HSA_PACKET_TYPE_KERNEL_DISPATCH);
	result.barrier = ring_for(queue, &barrier, HSA_PACKET_TYPE_BARRIER_AND);
	return result;
}

static void check_packets(const struct noted_packets *p)
{
	check_reads("kernel with a signal", &p->with_signal);
	check_reads("kernel without", &p->without);
	check_reads("barrier", &p->barrier);
	check_same(&p->with_signal, &p->without);
	check_same(&p->with_signal, &p->barrier);
	if (p->with_signal.writes || p->barrier.writes || p->without.writes > 1 ||
	    (p->without.writes && p->without.written_at[0] != SIGNAL_OFFSET))
		driver_fail("something else was written than a completion signal");
}

static void put_barrier(hsa_queue_t *queue, hsa_signal_t dependency)
{
	hsa_barrier_and_packet_t packet = {.dep_signal = {dependency}};
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);

	if (index != PAGE_PACKETS - 1)
		driver_fail("not the last packet of its page");
	packet_put(queue, index, &packet, HSA_PACKET_TYPE_BARRIER_AND | HEADER_BARRIER);
	queue_ring(queue, index);
}

int main(void)
{
	struct noted_packets packets;
	hsa_signal_t may_go, done;
	hsa_queue_t *queue;

	device_start();
	queue = queue_make(RING);
	page = (char *)queue->base_address + PAGE_BYTES;
	if ((uintptr_t)page % PAGE_BYTES)
		driver_fail("the ring does not begin with a page");
	queue_run(queue, PAGE_PACKETS - 2);
	may_go = signal_make(1);
	done = signal_make(1);
	put_barrier(queue, may_go);
	packets = ring_for_packets(queue, done);
	hsa_signal_store_screlease(may_go, 0);
	signal_await(done);
	queue_drain(queue);
	HSA_CHECK(hsa_signal_destroy(may_go));
	HSA_CHECK(hsa_signal_destroy(done));
	HSA_CHECK(hsa_queue_destroy(queue));
	device_end();
	check_packets(&packets);
	printf("kernels launched: %d\n", PAGE_PACKETS);
	return 0;
}
