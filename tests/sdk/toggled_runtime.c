/* The real HIP runtime on the software GPU. */
#include "toggled_hip.h"

#include "../../examples/hip/common/example.h"

#include <hsa/hsa.h>

static const struct example_kernel nothing = {"nothing"};

/* The software GPU finds this function by its name. */
__attribute__((visibility("default"))) void
softgpu_kernel_nothing(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);
void softgpu_kernel_nothing(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	(void)kernarg, (void)packet;
}

void toggled_hip_open(void)
{
	example_register("extern \"C\" __global__ void nothing(void) {}", &nothing, 1);
}

void toggled_hip_close(void)
{
}

void *toggled_queue_create(void)
{
	hipStream_t stream;

	HIP_CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	return stream;
}

void toggled_queue_destroy(void *queue)
{
	HIP_CHECK(hipStreamDestroy(queue));
}

void toggled_launch(void *queue, uint64_t number)
{
	example_launch(&nothing, (unsigned)number, 1, NULL, queue);
}

void toggled_drain(void *queue)
{
	HIP_CHECK(hipStreamSynchronize(queue));
}
