// SPDX-License-Identifier: Apache-2.0
#pragma once

/// 1 when this test program has AddressSanitizer or ThreadSanitizer in it, whose allocators never fail and never give
/// back.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RL_UNDER_SANITIZER 1
#else
#define RL_UNDER_SANITIZER 0
#endif
