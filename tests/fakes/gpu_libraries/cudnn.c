/* SPDX-License-Identifier: Apache-2.0 */
/* Says that it is cuDNN 8.9.7. */
__attribute__((visibility("default"))) unsigned long cudnnGetVersion(void) { return 8907; }
