/* SPDX-License-Identifier: Apache-2.0 */
__attribute__((visibility("default"))) int rl_fake_curand(void) { return 300; }
