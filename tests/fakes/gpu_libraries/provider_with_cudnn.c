/* SPDX-License-Identifier: Apache-2.0 */
/* A provider linked to a cuDNN of its own, as ONNX Runtime's of 1.17 and 1.18 are. */
unsigned long cudnnGetVersion(void);
__attribute__((visibility("default"))) int rl_fake_provider(void) { return (int)cudnnGetVersion(); }
