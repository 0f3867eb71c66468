/* The software GPU's configuration: one string, "gfx90a,gpus=2,kernel_ns=5000,...", from the
 * environment variable DAGTAP_SOFTGPU. config.c holds the one table of keys, which parses the
 * string, checks it and prints its own help. */
#ifndef SOFTGPU_CONFIG_H
#define SOFTGPU_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#define SOFTGPU_MAX_GPUS     256
#define SOFTGPU_MAX_SLICES   8 /* partitions of a card */
#define SOFTGPU_MAX_UUIDS    16
#define SOFTGPU_UUID_BYTES   21
#define SOFTGPU_MAX_PATTERNS 16
#define SOFTGPU_MAX_OVERLAP  64
#define CONFIG_NEWEST_TABLES 2

struct softgpu_config {
	char isa[32];		    /* gfx90a | gfx906 | gfx942 | gfx1030: a bare word */
	uint32_t gpus;		    /* cards */
	uint32_t partitions;	    /* GPUs that each card is; all of them: at most MAX_GPUS */
	uint64_t vram_bytes;	    /* per GPU; live bytes are counted, past it: out of resources */
	bool large_bar;		    /* CPU may access VRAM pools */
	uint64_t kernel_ns;	    /* modelled time of a kernel that has no pattern */
	uint64_t copy_ns;	    /* fixed part of a copy */
	uint64_t copy_bytes_per_us; /* 0: no bandwidth term */
	uint32_t overlap; /* most packets in flight on one queue when the barrier bit is clear */
	uint32_t event_limit; /* interrupt signals that get an event id; past it none, silently */
	uint64_t signal_ns;   /* charged to the caller for creating an interrupt signal */
	uint64_t doorbell_ns; /* charged to the caller for ringing a hardware doorbell */
	bool doorbell_bound;  /* no packet is taken that no doorbell has covered */
	uint64_t schedule;    /* seed of the order in which work is done; 0: as it comes */
	bool intercept_batch; /* intercept handlers get all contiguous packets, not one a call */
	int64_t clock_offset_ticks; /* device clock at CLOCK_MONOTONIC 0 */
	double clock_drift_ppm;	    /* device clock speed against 100 MHz */
	/* Tools get ROCR 7.2's: 1, 5's: 0, the newest: 2; those of the HIP library: -1. */
	int64_t rocr7_tables;
	bool counters;	  /* softgpu_counters tells them */
	char report[256]; /* counters as JSON at exit: a path (%p = pid), "-" = stderr, "" = none */
	char truth
		[256]; /* per dispatch and copy: true host start and end, one line each; "" = none */
	char packets[256];  /* every packet as the device read it, one line each; "" = none */
	char work_log[256]; /* each packet and copy that the device took; "" = none */
	char hold_at[64];   /* COUNTER:N: what counts the N-th is held; "" = nothing is */
	char hold_pipe
		[256]; /* told to whoever reads this named pipe; "": the taking of work is held */
	struct {
		char glob[64]; /* fnmatch on the kernel's name */
		uint64_t ns;
	} kernel_pattern[SOFTGPU_MAX_PATTERNS]; /* "kernel:GLOB=NS" */
	uint32_t kernel_pattern_count;
	struct {
		uint32_t card; /* from 0 */
		char text[SOFTGPU_UUID_BYTES];
	} uuid[SOFTGPU_MAX_UUIDS]; /* "uuid:CARD=TEXT" */
	uint32_t uuid_count;
};

/* Parsed on first use; a bad string falls back to defaults and hsa_init says so by failing
 * (config_error() is not NULL). Immutable afterwards, any thread. */
const struct softgpu_config *config_get(void);
const char *config_error(void);

/* For tests: parses STRING into RET_CONFIG (defaults first). 0 or -EINVAL with a message. */
int config_parse(const char *string, struct softgpu_config *ret_config, char *message,
		 unsigned long message_size);

#endif
