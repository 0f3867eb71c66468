/*
 * sgemm M N K COUNT: multiplies matrices COUNT times with rocBLAS, on a given stream. Its kernels
 * have no host version: on the software GPU they take their time and do not change the result.
 */
#include "common/example.h"

#include <stdio.h>
#include <stdlib.h>

#include <rocblas/rocblas.h>

#define CHECK(call) check((call), #call)

static void check(rocblas_status status, const char *call)
{
	if (status != rocblas_status_success)
		example_fail("%s: %s", call, rocblas_status_to_string(status));
}

static float *matrix(size_t rows, size_t columns)
{
	size_t bytes = rows * columns * sizeof(float);
	float *data;

	HIP_CHECK(hipMalloc((void **)&data, bytes));
	HIP_CHECK(hipMemset(data, 0, bytes));
	return data;
}

int main(int argc, char **argv)
{
	unsigned m = example_argument(argc, argv, 1, 128);
	unsigned n = example_argument(argc, argv, 2, 64);
	unsigned k = example_argument(argc, argv, 3, 32);
	unsigned count = example_argument(argc, argv, 4, 10);
	float *a = matrix(m, k), *b = matrix(k, n), *c = matrix(m, n);
	const float alpha = 1, beta = 0;
	rocblas_handle handle;
	hipStream_t stream;

	HIP_CHECK(hipStreamCreate(&stream));
	CHECK(rocblas_create_handle(&handle));
	CHECK(rocblas_set_stream(handle, stream));
	for (unsigned i = 0; i < count; i++)
		CHECK(rocblas_sgemm(handle, rocblas_operation_none, rocblas_operation_none, (int)m,
				    (int)n, (int)k, &alpha, a, (int)m, b, (int)k, &beta, c,
				    (int)m));
	HIP_CHECK(hipStreamSynchronize(stream));
	CHECK(rocblas_destroy_handle(handle));
	HIP_CHECK(hipStreamDestroy(stream));
	HIP_CHECK(hipFree(a));
	HIP_CHECK(hipFree(b));
	HIP_CHECK(hipFree(c));
	printf("products: %u\n", count);
	return EXIT_SUCCESS;
}
