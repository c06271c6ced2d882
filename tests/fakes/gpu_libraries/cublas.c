/* SPDX-License-Identifier: Apache-2.0 */
/* Needs cublasLt, as the real one does. */
int rl_fake_cublas_lt(void);
__attribute__((visibility("default"))) int rl_fake_cublas(void) { return rl_fake_cublas_lt() + 1; }
/* 13.1.4 by libraryPropertyType. */
__attribute__((visibility("default"))) int cublasGetProperty(int which, int* value) {
  static const int kParts[3] = {13, 1, 4};
  *value = kParts[which];
  return 0;
}
