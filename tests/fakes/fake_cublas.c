/* SPDX-License-Identifier: Apache-2.0 */
/* A cuBLAS that multiplies nothing and remembers what it was asked: fake_cublas_asked(compute type) gives the number of
 * rows of the last product of that type, 0 when there was none. fake_cublas_refuse makes one compute type fail. */
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

static int asked[128];
static int refused, live;

EXPORT int fake_cublas_asked(int compute) { return asked[compute]; }
EXPORT void fake_cublas_refuse(int compute) { refused = compute; }
EXPORT int fake_cublas_live(void) { return live; }

EXPORT int cublasCreate_v2(void** out) { return *out = &live, ++live, 0; }
EXPORT int cublasDestroy_v2(void* handle) { return handle == &live ? --live, 0 : 1; }
EXPORT int cublasSetStream_v2(void* handle, void* stream) { return handle == &live && stream != NULL ? 0 : 1; }
EXPORT int cublasGemmEx(void* handle, int ta, int tb, int m, int n, int k, const void* alpha, const void* a, int at, int lda,
                        const void* b, int bt, int ldb, const void* beta, void* c, int ct, int ldc, int compute,
                        int algorithm) {
  if (handle != &live || ta != 0 || tb != 0 || m != n || n != k || lda != n || ldb != n || ldc != n || at != bt ||
      bt != ct || algorithm != -1 || *(const float*)alpha != 1 || *(const float*)beta != 0)
    return 7;
  if (compute == refused || a == NULL || b == NULL || c == NULL) return 15;
  /* Half precision goes with plain 32-bit sums, single precision with the two others. */
  if ((at == 2) != (compute == 68)) return 15;
  asked[compute] = n;
  return 0;
}
