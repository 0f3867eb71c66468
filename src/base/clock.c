/* The controlled clock. The inline functions of the header have the fast path. */
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A waiting thread checks a held clock at this interval. */
#define HELD_LOOK_NS 1000000u

struct clock_page *_Atomic clock_page;

static void *map_file(int file)
{
	struct stat status;

	if (fstat(file, &status))
		return MAP_FAILED;
	if (status.st_size < (off_t)sizeof(struct clock_page)) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	return mmap(NULL, sizeof(struct clock_page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

int clock_take_page(const char *path)
{
	int file = open(path, O_RDWR | O_CLOEXEC);
	void *page = file < 0 ? MAP_FAILED : map_file(file);
	int err = page == MAP_FAILED ? -errno : 0;

	if (file >= 0)
		close(file);
	if (!err)
		atomic_store_explicit(&clock_page, page, memory_order_relaxed);
	return err;
}

uint64_t clock_page_ns(const struct clock_page *page)
{
	uint64_t held_ns = atomic_load_explicit(&page->held_ns, memory_order_acquire);

	if (held_ns)
		return held_ns;
	return clock_read_ns(CLOCK_MONOTONIC) +
	       (uint64_t)atomic_load_explicit(&page->offset_ns, memory_order_relaxed);
}

void clock_hold(struct clock_page *page)
{
	atomic_store_explicit(&page->held_ns, clock_page_ns(page), memory_order_release);
}

void clock_step(struct clock_page *page, uint64_t ns)
{
	atomic_fetch_add_explicit(&page->held_ns, ns, memory_order_release);
}

void clock_release(struct clock_page *page)
{
	uint64_t now_ns = clock_page_ns(page);

	atomic_store_explicit(&page->offset_ns, (int64_t)(now_ns - clock_read_ns(CLOCK_MONOTONIC)),
			      memory_order_relaxed);
	/* Pairs with the acquire in clock_page_ns: a thread that sees the clock run sees
	 * the offset. */
	atomic_store_explicit(&page->held_ns, 0, memory_order_release);
}

bool clock_is_held(void)
{
	const struct clock_page *page = atomic_load_explicit(&clock_page, memory_order_relaxed);

	return page && atomic_load_explicit(&page->held_ns, memory_order_acquire);
}

uint64_t clock_wake_ns(uint64_t ns)
{
	const struct clock_page *page = atomic_load_explicit(&clock_page, memory_order_relaxed);

	if (!page)
		return ns;
	if (clock_is_held())
		return clock_read_ns(CLOCK_MONOTONIC) + HELD_LOOK_NS;
	return ns - (uint64_t)atomic_load_explicit(&page->offset_ns, memory_order_relaxed);
}
