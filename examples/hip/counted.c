/*
 * counted FILE N: launches N kernels and keeps three words in FILE: its pid, the launches begun and
 * the launches that returned. FILE is mapped and survives a kill -9, so a test can compare a
 * recording with it.
 */
#include "common/kernels.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS	   64
#define SYNC_EVERY 20000 /* bounds the work in flight, and with it the memory */

struct page {
	_Atomic uint64_t pid; /* set just before the first launch */
	_Atomic uint64_t begun;
	_Atomic uint64_t returned;
};

static struct page *page_map(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	struct page *page;

	if (file < 0 || ftruncate(file, sizeof(*page)) < 0)
		example_fail("%s: cannot be made", path);
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (page == MAP_FAILED)
		example_fail("%s: cannot be mapped", path);
	close(file);
	return page;
}

int main(int argc, char **argv)
{
	unsigned launches = example_argument(argc, argv, 2, 1000);
	uint32_t want[WORDS] = {0}, got[WORDS], count = WORDS;
	struct page *page;
	hipStream_t stream;
	uint32_t *data;

	if (argc < 2)
		example_fail("usage: counted FILE [N]");
	page = page_map(argv[1]);
	kernels_register();
	HIP_CHECK(hipMalloc((void **)&data, sizeof(want)));
	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipMemsetAsync(data, 0, sizeof(want), stream));
	atomic_store(&page->pid, (uint64_t)getpid());
	for (uint32_t i = 0; i < launches; i++) {
		void *arguments[] = {&data, &i, &count};

		atomic_fetch_add(&page->begun, 1);
		example_launch(&example_kernels[MIX], 1, WORDS, arguments, stream);
		atomic_fetch_add(&page->returned, 1);
		host_mix(want, i, WORDS);
		if (i % SYNC_EVERY == SYNC_EVERY - 1)
			HIP_CHECK(hipStreamSynchronize(stream));
	}
	HIP_CHECK(hipMemcpyAsync(got, data, sizeof(got), hipMemcpyDeviceToHost, stream));
	HIP_CHECK(hipStreamSynchronize(stream));
	example_expect(got, want, WORDS, "loop");
	HIP_CHECK(hipStreamDestroy(stream));
	HIP_CHECK(hipFree(data));
	return example_finish();
}
