/* SPDX-License-Identifier: Apache-2.0 */
__attribute__((visibility("default"))) int rl_fake_cublas_lt(void) { return 20; }
