/* The CUDA call that each thread is in; see cuda_current.h. */
#include "capture/cuda/cuda_current.h"

__thread struct cuda_current cuda_current;
__thread struct cuda_dormant_call cuda_dormant_call;
