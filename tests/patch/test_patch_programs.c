/* test_patch_programs [PROGRAMS]: runs random programs of libdagpatch calls, drawn from the
 * test's seed. The fuzz target in fuzz/ runs the same programs from any bytes. */
#include <stdio.h>
#include <stdlib.h>

#include "../../fuzz/patch_program.h"
#include "../launched.h"

enum { PROGRAMS = 4000, MOST_BYTES = 1500 };

static uint64_t state;

static uint8_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint8_t)(state >> 56);
}

int main(int count, char **arguments)
{
	uint32_t programs = count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : PROGRAMS;
	struct patch_program_result sum = {0};

	for (uint32_t i = 0; i < programs; i++) {
		uint8_t bytes[MOST_BYTES];
		size_t size;

		/* Each program has its own state, so it can be run alone. */
		state = test_seed() * 1000003 + i;
		size = 1 + (size_t)draw() * draw() % MOST_BYTES;
		for (size_t j = 0; j < size; j++)
			bytes[j] = draw();
		if (getenv("PATCH_PROGRAM") && strtoul(getenv("PATCH_PROGRAM"), NULL, 10) != i)
			continue;
		struct patch_program_result result = patch_program_run(bytes, size);

		sum.calls += result.calls;
		sum.accepted += result.accepted;
		sum.launches += result.launches;
	}
	printf("seed %llu: %u programs, %u calls, %u accepted, %u launches\n",
	       (unsigned long long)test_seed(), programs, sum.calls, sum.accepted, sum.launches);
	/* A run without launches tests nothing, so it fails. */
	return sum.launches == 0;
}
