/* The host clock, held by a test: time passes only by clock_step (base/clock.h). */
#ifndef TESTS_HELD_CLOCK_H
#define TESTS_HELD_CLOCK_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "in_child.h"
#include "spool_fixture.h"

/* Holds the clock of the calling process, whose spools have a folder. Returns the page to step it
 * by; it is never unmapped. */
static inline struct clock_page *held_clock(void)
{
	struct clock_page *page;
	char path[TEST_PATH_BYTES];
	int file;

	snprintf(path, sizeof(path), "%s.clock", getenv("DAGTAP_SPOOL"));
	file = open(path, O_RDWR | O_CREAT, 0600);
	expect(file >= 0 && !ftruncate(file, sizeof(*page)));
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	expect(page != MAP_FAILED);
	close(file);
	clock_hold(page);
	expect(!clock_take_page(path));
	unlink(path);
	return page;
}

#endif
