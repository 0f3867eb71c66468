/* What dagpatch's kernels (cuda_kernels.cu) and the host share. */
#ifndef DAGPATCH_PATCH_CUDA_KERNELS_H
#define DAGPATCH_PATCH_CUDA_KERNELS_H

#define UPDATER_KERNEL	 "dagpatch_update"
#define CONDITION_KERNEL "dagpatch_condition"
#define NOTHING_KERNEL	 "dagpatch_nothing"
#define UPDATER_THREADS	 1024

/* One slot's new address. In host memory that the device reads. */
struct updater_entry {
	unsigned long long address;
	unsigned long long slot;
};

/* Eight bytes of a node's parameters: the slot's address plus ADDEND. Sorted by slot. */
struct updater_relocation {
	unsigned long long node; /* CUgraphDeviceNode */
	unsigned long long offset;
	unsigned long long addend;
};

/* State of the updater in device memory; zero at first. */
struct updater_state {
	unsigned long long runs;    /* completed runs of the updater */
	unsigned long long applied; /* entries of the log that were applied */
};

/* What the device reports, in host memory. */
struct updater_progress {
	/* runs whose entries and end were read: the host may overwrite them */
	unsigned long long runs;
	unsigned long long error; /* last error of cudaGraphKernelNodeSetParam; 0: none */
};

/* The updater's only parameter. The counts of rings are powers of two. */
struct updater_plan {
	const struct updater_entry *log;   /* ring in host memory */
	const unsigned long long *ends;	   /* ring in host memory: by run, the end of the log */
	struct updater_progress *progress; /* in host memory */
	const unsigned int *first; /* by slot: its first relocation; one more entry for the end */
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
