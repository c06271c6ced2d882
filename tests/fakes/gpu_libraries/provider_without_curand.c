/* SPDX-License-Identifier: Apache-2.0 */
/* A provider whose libcurand is nowhere to be found. */
int rl_fake_curand(void);
__attribute__((visibility("default"))) int rl_fake_provider(void) { return rl_fake_curand(); }
