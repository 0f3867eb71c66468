/* What our kernels (cuda_kernels.cu) and the host share. */
#ifndef DAGPATCH_PATCH_CUDA_KERNELS_H
#define DAGPATCH_PATCH_CUDA_KERNELS_H

#define UPDATER_KERNEL	 "dagpatch_update"
#define CONDITION_KERNEL "dagpatch_condition"
#define NOTHING_KERNEL	 "dagpatch_nothing"
#define UPDATER_THREADS	 1024

/* One slot's new address. In memory of the host that the device reads. */
struct updater_entry {
	unsigned long long address;
	unsigned long long slot;
};

/* Eight bytes of a node's parameters: the slot's address plus ADDEND. Ordered by slot. */
struct updater_relocation {
	unsigned long long node; /* CUgraphDeviceNode */
	unsigned long long offset;
	unsigned long long addend;
};

/* The device's own, zero at first. */
struct updater_state {
	unsigned long long runs;    /* of the updater, so far */
	unsigned long long applied; /* entries of the log */
};

/* In memory of the host: what the device no longer needs. */
struct updater_progress {
	unsigned long long runs;  /* whose entries and end were read */
	unsigned long long error; /* of a cudaGraphKernelNodeSetParam */
};

/* The kernel's one parameter. Counts of rings are powers of two. */
struct updater_plan {
	const struct updater_entry *log;   /* host */
	const unsigned long long *ends;	   /* host: the log's end for each run */
	struct updater_progress *progress; /* host */
	const unsigned int *first; /* a slot's first relocation, and one past the last slot's */
	const struct updater_relocation *relocations;
	struct updater_state *state;
	unsigned long long log_count;
	unsigned long long end_count;
};

/* As struct patch_condition_arguments (driver.h). */
#define CONDITION_CASE 1

struct condition {
	unsigned long long handle;
	unsigned long long predicate;
	unsigned int condition; /* enum dagpatch_condition */
	unsigned int bodies;
	unsigned int is_byte;
	unsigned int reserved;
};

#endif
