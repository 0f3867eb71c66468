/*
 * copies: copies and sets memory in every direction and shape, and compares each result: host to
 * device and back (pageable, pinned, asynchronous), device to device, two-dimensional, memsets of
 * three widths, and from one GPU to another when there are two.
 */
#include "common/example.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH  96 /* bytes in a row of the 2D cases; a word has 4 bytes */
#define HEIGHT 32
#define WORDS  (WIDTH * HEIGHT / 4)
#define BYTES  (WORDS * sizeof(uint32_t))
#define PITCH  128 /* bytes from row to row of the host's 2D buffers */

static unsigned copies_made, memsets_made;

#define COPY(call)                                                                                 \
	do {                                                                                       \
		HIP_CHECK(call);                                                                   \
		copies_made++;                                                                     \
	} while (0)

#define MEMSET(call)                                                                               \
	do {                                                                                       \
		HIP_CHECK(call);                                                                   \
		memsets_made++;                                                                    \
	} while (0)

static void pattern(uint32_t *words, uint32_t seed)
{
	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = seed * 0x9e3779b9u + i;
}

static void linear(void)
{
	static uint32_t want[WORDS], got[WORDS];
	uint32_t *a, *b;

	pattern(want, 1);
	HIP_CHECK(hipMalloc((void **)&a, BYTES));
	HIP_CHECK(hipMalloc((void **)&b, BYTES));
	COPY(hipMemcpy(a, want, BYTES, hipMemcpyHostToDevice));
	COPY(hipMemcpy(b, a, BYTES, hipMemcpyDeviceToDevice));
	COPY(hipMemcpy(got, b, BYTES, hipMemcpyDeviceToHost));
	example_expect(got, want, WORDS, "linear");
	COPY(hipMemcpyHtoD(a, got, BYTES));
	COPY(hipMemcpyDtoD(b, a, BYTES));
	memset(got, 0, sizeof(got));
	COPY(hipMemcpyDtoH(got, b, BYTES));
	example_expect(got, want, WORDS, "linear, driver calls");
	HIP_CHECK(hipFree(b));
	HIP_CHECK(hipFree(a));
}

static void asynchronous(void)
{
	uint32_t *from, *to, *a, *b;
	hipStream_t stream;

	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipHostMalloc((void **)&from, BYTES, 0));
	HIP_CHECK(hipHostMalloc((void **)&to, BYTES, 0));
	HIP_CHECK(hipMalloc((void **)&a, BYTES));
	HIP_CHECK(hipMalloc((void **)&b, BYTES));
	pattern(from, 2);
	COPY(hipMemcpyAsync(a, from, BYTES, hipMemcpyHostToDevice, stream));
	COPY(hipMemcpyAsync(b, a, BYTES, hipMemcpyDeviceToDevice, stream));
	COPY(hipMemcpyAsync(to, b, BYTES, hipMemcpyDeviceToHost, stream));
	HIP_CHECK(hipStreamSynchronize(stream));
	example_expect(to, from, WORDS, "asynchronous");
	HIP_CHECK(hipFree(b));
	HIP_CHECK(hipFree(a));
	HIP_CHECK(hipHostFree(to));
	HIP_CHECK(hipHostFree(from));
	HIP_CHECK(hipStreamDestroy(stream));
}

static void rectangles(void)
{
	static unsigned char from[PITCH * HEIGHT], to[PITCH * HEIGHT];
	size_t pitch_a, pitch_b;
	unsigned char *a, *b;

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (unsigned char)(i * 7 + 3);
	HIP_CHECK(hipMallocPitch((void **)&a, &pitch_a, WIDTH, HEIGHT));
	HIP_CHECK(hipMallocPitch((void **)&b, &pitch_b, (size_t)WIDTH * 2, HEIGHT));
	COPY(hipMemcpy2D(a, pitch_a, from, PITCH, WIDTH, HEIGHT, hipMemcpyHostToDevice));
	COPY(hipMemcpy2D(b, pitch_b, a, pitch_a, WIDTH, HEIGHT, hipMemcpyDeviceToDevice));
	COPY(hipMemcpy2D(to, PITCH, b, pitch_b, WIDTH, HEIGHT, hipMemcpyDeviceToHost));
	for (size_t row = 0; row < HEIGHT; row++)
		if (memcmp(from + row * PITCH, to + row * PITCH, WIDTH) != 0)
			example_fail("2D copy: row %zu differs", row);
	for (size_t i = 0; i < PITCH - WIDTH; i++)
		if (to[WIDTH + i] != 0)
			example_fail("2D copy: wrote past the end of a row");
	HIP_CHECK(hipFree(b));
	HIP_CHECK(hipFree(a));
}

static void expect_fill(const uint32_t *device, uint32_t word, const char *what)
{
	static uint32_t want[WORDS], got[WORDS];

	for (size_t i = 0; i < WORDS; i++)
		want[i] = word;
	COPY(hipMemcpy(got, device, BYTES, hipMemcpyDeviceToHost));
	example_expect(got, want, WORDS, what);
}

static void memsets(void)
{
	uint32_t *device;

	HIP_CHECK(hipMalloc((void **)&device, BYTES));
	MEMSET(hipMemset(device, 0x5a, BYTES));
	expect_fill(device, 0x5a5a5a5a, "memset");
	MEMSET(hipMemsetD16(device, 0x1234, BYTES / 2));
	expect_fill(device, 0x12341234, "memset of 16-bit words");
	MEMSET(hipMemsetD32(device, 0x01020304, WORDS));
	expect_fill(device, 0x01020304, "memset of 32-bit words");
	MEMSET(hipMemset2D(device, WIDTH, 0x77, WIDTH, HEIGHT));
	expect_fill(device, 0x77777777, "2D memset");
	HIP_CHECK(hipFree(device));
}

static void peers(void)
{
	static uint32_t want[WORDS], got[WORDS];
	uint32_t *near_side, *far_side;

	pattern(want, 3);
	HIP_CHECK(hipMalloc((void **)&near_side, BYTES));
	HIP_CHECK(hipSetDevice(1));
	HIP_CHECK(hipMalloc((void **)&far_side, BYTES));
	COPY(hipMemcpy(near_side, want, BYTES, hipMemcpyHostToDevice));
	COPY(hipMemcpyPeer(far_side, 1, near_side, 0, BYTES));
	COPY(hipMemcpy(got, far_side, BYTES, hipMemcpyDeviceToHost));
	example_expect(got, want, WORDS, "peer");
	HIP_CHECK(hipFree(far_side));
	HIP_CHECK(hipSetDevice(0));
	HIP_CHECK(hipFree(near_side));
}

int main(void)
{
	int devices;

	HIP_CHECK(hipGetDeviceCount(&devices));
	linear();
	asynchronous();
	rectangles();
	memsets();
	if (devices > 1)
		peers();
	printf("copies made: %u\nmemsets made: %u\n", copies_made, memsets_made);
	return example_finish();
}
