/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* A launch with this correlation gives a kernel whose times are not known. */
#define FAKE_CUPTI_WITHOUT_TIME 0xFFFFFFFFU

#ifdef __cplusplus
extern "C" {
#endif
/* This thread launches a kernel, which runs for a microsecond, two microseconds from now. */
void fake_cupti_launch(const char* mangled, uint32_t stream, uint32_t correlation);
/* This thread captures a node of a graph, which is instantiated at once; the node that is replayed. 0: nobody watches.
 */
uint64_t fake_cupti_capture(void);
/* This thread calls cuProfilerStart (1), or cuProfilerStop (0). */
void fake_cupti_profiler(int starts);
/* This thread launches a graph with that node. */
void fake_cupti_replay(const char* mangled, uint64_t node, uint32_t correlation);
/* Kernels run for so long from now on, instead of a microsecond. */
void fake_cupti_kernels_last(uint64_t ns);
/* This thread launches a kernel, by a call that fails. */
void fake_cupti_launch_failing(const char* mangled);
/* This thread's call to launch: it begins, so that another thread may launch, and ends. */
void fake_cupti_launch_begin(const char* mangled, uint32_t stream);
void fake_cupti_launch_end(void);
/* This thread launches a kernel of which CUPTI's callbacks say nothing. */
void fake_cupti_launch_unseen(void);
/* This thread captures a stream from now on, or no longer. Whether that did not disturb what CUPTI counts. */
int fake_cupti_capture_stream(int begins);
/* Whether CUPTI records activities. */
int fake_cupti_records(void);
/* How many kinds of activities are switched on, and subscribers. */
int fake_cupti_enabled(void);
#ifdef __cplusplus
}
#endif
