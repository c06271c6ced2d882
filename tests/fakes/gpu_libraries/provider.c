/* SPDX-License-Identifier: Apache-2.0 */
/* A provider that needs the CUDA runtime and cuBLAS. */
int cudaRuntimeGetVersion(int* version);
int rl_fake_cublas(void);
__attribute__((visibility("default"))) int rl_fake_provider(void) {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return version + rl_fake_cublas();
}
