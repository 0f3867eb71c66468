/* Writes the recordings of a job of three ranks into a folder, for tests of dagtap merge: rank 0 of
 * machine a, ranks 1 and 2 of machine b, whose clock is 3 s behind and 20 ppm fast; and rank 2
 * again as it would be without communicators that are known, and with a clock that is slewed by
 * 500 ppm for 2 s; and that rank and rank 0 once more with moments on steady clocks. Two more of
 * rank 2 are damaged: one starts behind its end, one at a time that cannot be.
 *
 * With more arguments, a long job instead: RANKS recordings rank0, rank1, ... of a machine each,
 * with OPERATIONS all-reduces and KERNELS other kernels behind each.
 *
 * usage: merge_recordings FOLDER [RANKS OPERATIONS KERNELS] */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rank_scene.h"

#define BEHIND_NS 3000000000.0
#define DRIFT	  20e-6
#define BEGIN_NS  10000000000
#define STEP_NS	  100000000

enum { OPERATIONS = 60, WAIT_NS = 400000, TRANSFER_NS = 6000 };

#define SLEW_BEGIN_NS (BEGIN_NS + 2000000000ll)
#define SLEW_NS	      2000000000ll

#define MOMENT_STEP_NS 250000000 /* as recordings have them */

static double slew;	 /* of the clock of rank 2 */
static bool has_moments; /* on steady clocks */

/* What the clock of RANK shows at a time of rank 0's clock. */
static int64_t shown(uint32_t rank, int64_t ns)
{
	double slewed_ns = fmin(fmax((double)(ns - SLEW_BEGIN_NS), 0), SLEW_NS);

	return rank == 0 ? ns : llround(((double)ns - BEHIND_NS) * (1 + DRIFT) + slew * slewed_ns);
}

/* From the begin of the rank's clock on. The steady clock runs as rank 0's clock does, but for its
 * drift. */
static void put_moments(struct rank_scene *scene, uint32_t rank, int64_t end_ns)
{
	for (int64_t ns = rank ? (int64_t)BEHIND_NS : 0; ns <= end_ns; ns += MOMENT_STEP_NS) {
		struct record_anchor anchor = {
			.tick = (uint64_t)llround((double)ns * (rank ? 1 + DRIFT : 1)),
			.host_ns = (uint64_t)shown(rank, ns),
			.uncertainty_ns = 100,
		};

		scene_put(&scene->scene, 0, RECORD_ANCHOR, RECORD_STEADY_CLOCK, &anchor,
			  sizeof(anchor));
	}
}

/* Lets the process start at START_NS. */
static void set_start(struct rank_scene *scene, uint64_t start_ns)
{
	struct spool_header *header = (struct spool_header *)scene->scene.image;

	header->start_ns = start_ns;
	header->fixed_crc = spool_fixed_crc(header);
}

/* The ranks are late in turn; all end when the transfer is done. START_NS: 0 for the scene's. */
static void write_rank(const char *folder, const char *name, uint32_t rank, uint64_t communicator,
		       uint64_t start_ns)
{
	struct rank_scene scene;
	char path[4096];

	rank_scene_init(&scene, rank, 3, rank ? "b" : "a",
			1000000000000 + (rank ? (int64_t)BEHIND_NS + 40000000 : 0));
	scene.communicator = communicator;
	if (start_ns)
		set_start(&scene, start_ns);
	for (int i = 0; i < OPERATIONS; i++) {
		int64_t begun_ns = BEGIN_NS + i * (int64_t)STEP_NS + WAIT_NS;
		bool is_late = (rank == 0) == (i % 3 == 0);

		rank_scene_reduce(&scene, (uint64_t)i + 1,
				  shown(rank, begun_ns - (is_late ? 0 : WAIT_NS)),
				  shown(rank, begun_ns + TRANSFER_NS));
	}
	if (has_moments)
		put_moments(&scene, rank, BEGIN_NS + OPERATIONS * (int64_t)STEP_NS);
	rank_scene_close(&scene, shown(rank, BEGIN_NS + OPERATIONS * (int64_t)STEP_NS));
	snprintf(path, sizeof(path), "%s/%s.dagtap", folder, name);
	rank_scene_write(&scene, path);
	scene_release(&scene.scene);
}

/* The ranks are late in turn. Rank R's clock is R s ahead. */
static void write_long(const char *folder, uint32_t rank, const uint32_t counts[3])
{
	uint32_t ranks = counts[0], operations = counts[1], kernels = counts[2];
	int64_t ahead_ns = rank * 1000000000ll, step_ns = 1000000;
	struct rank_scene scene;
	char path[4096], host[16];

	snprintf(host, sizeof(host), "host%u", rank);
	rank_scene_init_long(&scene, rank, ranks, host, 1000000000000 - ahead_ns,
			     8 + (uint32_t)((uint64_t)operations * (kernels + 2) / 150));
	for (uint32_t i = 0; i < operations; i++) {
		int64_t begun_ns = ahead_ns + BEGIN_NS + i * step_ns;

		scene.scene.ns = (uint64_t)begun_ns - 10000;
		rank_scene_reduce(&scene, i + 1ull, begun_ns - (i % ranks == rank ? 0 : 5000),
				  begun_ns + TRANSFER_NS);
		for (uint32_t k = 0; k < kernels; k++)
			rank_scene_kernel(&scene, 0, begun_ns + 10000 + k * 1000,
					  begun_ns + 10500 + k * 1000);
	}
	rank_scene_close(&scene, ahead_ns + BEGIN_NS + operations * step_ns);
	snprintf(path, sizeof(path), "%s/rank%u.dagtap", folder, rank);
	rank_scene_write(&scene, path);
	scene_release(&scene.scene);
}

int main(int argc, char **argv)
{
	if (argc != 2 && argc != 5) {
		fprintf(stderr, "usage: merge_recordings FOLDER [RANKS OPERATIONS KERNELS]\n");
		return 2;
	}
	if (argc == 5) {
		const uint32_t counts[] = {(uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]),
					   (uint32_t)atoi(argv[4])};

		for (uint32_t i = 0; i < counts[0]; i++)
			write_long(argv[1], i, counts);
		return 0;
	}
	write_rank(argv[1], "rank0", 0, 0xc0ffee, 0);
	write_rank(argv[1], "rank1", 1, 0xc0ffee, 0);
	write_rank(argv[1], "rank2", 2, 0xc0ffee, 0);
	write_rank(argv[1], "alone", 2, 0, 0);
	write_rank(argv[1], "backward", 2, 0xc0ffee, 1000 * (uint64_t)BEGIN_NS);
	write_rank(argv[1], "absurd", 2, 0xc0ffee, UINT64_C(1) << 62);
	slew = 500e-6;
	write_rank(argv[1], "slewed", 2, 0xc0ffee, 0);
	has_moments = true;
	write_rank(argv[1], "steady0", 0, 0xc0ffee, 0);
	write_rank(argv[1], "steady2", 2, 0xc0ffee, 0);
	return 0;
}
