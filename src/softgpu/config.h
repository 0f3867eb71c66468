/* The configuration of the software GPU: one string, "gfx90a,gpus=2,kernel_ns=5000,...", from the
 * environment variable DAGTAP_SOFTGPU. config.c has one table of keys, by which the string is
 * parsed and checked and the help text is printed. docs/softgpu.md describes every key. */
#ifndef SOFTGPU_CONFIG_H
#define SOFTGPU_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#define SOFTGPU_MAX_GPUS     256
#define SOFTGPU_MAX_SLICES   8 /* most partitions of a card */
#define SOFTGPU_MAX_UUIDS    16
#define SOFTGPU_UUID_BYTES   21 /* with the NUL */
#define SOFTGPU_MAX_PATTERNS 16
#define SOFTGPU_MAX_OVERLAP  64
#define CONFIG_NEWEST_TABLES 2 /* value of rocr7_tables */

struct softgpu_config {
	char isa[32];	     /* gfx90a, gfx906, gfx942 or gfx1030: the key that is a bare word */
	uint32_t gpus;	     /* number of cards */
	uint32_t partitions; /* GPUs for each card; gpus * partitions <= SOFTGPU_MAX_GPUS */
	uint64_t vram_bytes; /* memory of each GPU; allocations beyond it fail */
	bool large_bar;	     /* the CPU may access VRAM pools */
	uint64_t kernel_ns;  /* modelled time of a kernel that no pattern matches */
	uint64_t copy_ns;    /* fixed part of a copy's modelled time */
	uint64_t copy_bytes_per_us; /* bandwidth of a copy; 0: without limit */
	uint32_t overlap;     /* most packets in flight on a queue while none has a barrier bit */
	uint32_t event_limit; /* most interrupt signals with an event id; later ones get none */
	uint64_t signal_ns;   /* time charged to the thread that creates an interrupt signal */
	uint64_t doorbell_ns; /* time charged to the thread that rings a hardware doorbell */
	bool doorbell_bound;  /* the device takes no packet that no doorbell has covered */
	uint64_t schedule;    /* seed of the order of work (schedule.h); 0: no schedule */
	bool intercept_batch; /* intercept handlers get all contiguous packets in one call */
	int64_t clock_offset_ticks; /* device clock when CLOCK_MONOTONIC is 0 */
	double clock_drift_ppm;	    /* speed of the device clock relative to 100 MHz */
	/* Dispatch tables that tools get: 0: ROCR 5's; 1: ROCR 7.2's; 2: the newest; -1: those of
	 * the HIP library in the process. */
	int64_t rocr7_tables;
	bool counters; /* false: softgpu_counters returns 0 */
	/* Paths of the outputs. "%p" is the process id; "" means no output. In report, truth and
	 * packets "-" means stderr. */
	char report[256];    /* counters as JSON, when the process ends */
	char truth[256];     /* exact host times of each dispatch and copy */
	char packets[256];   /* every packet as the device read it */
	char work_log[256];  /* each packet and copy that the device took */
	char hold_at[64];    /* COUNTER:N: the thread that counts the N-th is held; "": none */
	char hold_pipe[256]; /* named pipe for hold_at; "": hold_at holds the taking of work */
	struct {
		char glob[64];			/* pattern for fnmatch on the kernel's name */
		uint64_t ns;			/* modelled time */
	} kernel_pattern[SOFTGPU_MAX_PATTERNS]; /* "kernel:GLOB=NS"; the first match counts */
	uint32_t kernel_pattern_count;
	struct {
		uint32_t card; /* number of the card, from 0 */
		char text[SOFTGPU_UUID_BYTES];
	} uuid[SOFTGPU_MAX_UUIDS]; /* "uuid:CARD=TEXT" */
	uint32_t uuid_count;
};

/* Returns the configuration. The first call parses DAGTAP_SOFTGPU, and also applies DAGTAP_TIMERS,
 * DAGTAP_CLOCK and the keys hold_at and hold_pipe; after that the configuration does not change. If
 * the string is invalid, all keys have their defaults. Any thread. */
const struct softgpu_config *config_get(void);

/* Returns one line about what is wrong in DAGTAP_SOFTGPU or DAGTAP_CLOCK; NULL when both are valid.
 * hsa_init fails unless this is NULL. Any thread; the string is static. */
const char *config_error(void);

/* Parses STRING into RET_CONFIG, on top of the defaults, and applies nothing. Returns 0, or -EINVAL
 * with one line in MESSAGE (may be NULL) and RET_CONFIG set to the defaults. For
 * softgpu_config_check and for tests. */
int config_parse(const char *string, struct softgpu_config *ret_config, char *message,
		 unsigned long message_size);

#endif
