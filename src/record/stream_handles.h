/* The handles of default streams, as the arguments of recorded calls of CUDA and HIP have them.
 * Other handles are addresses. From cuda.h (CUDA 13.0): CU_STREAM_LEGACY, CU_STREAM_PER_THREAD;
 * from hip_runtime_api.h (HIP 7.2): hipStreamLegacy, hipStreamPerThread. */
#ifndef DAGTAP_RECORD_STREAM_HANDLES_H
#define DAGTAP_RECORD_STREAM_HANDLES_H

/* 0 is the legacy stream, too; in functions whose names end in _ptsz (CUDA) or _spt (HIP) it is the
 * calling thread's own stream. */
#define STREAM_HANDLE_LEGACY	 1
#define STREAM_HANDLE_PER_THREAD 2 /* the calling thread's own: one handle for all threads */

#endif
