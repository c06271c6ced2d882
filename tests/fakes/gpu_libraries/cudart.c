/* SPDX-License-Identifier: Apache-2.0 */
/* Says that it is the CUDA runtime 13.2. */
__attribute__((visibility("default"))) int cudaRuntimeGetVersion(int* version) {
  *version = 13020;
  return 0;
}
