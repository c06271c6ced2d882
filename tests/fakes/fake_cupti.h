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
/* This thread launches a graph with that node. */
void fake_cupti_replay(const char* mangled, uint64_t node, uint32_t correlation);
#ifdef __cplusplus
}
#endif
