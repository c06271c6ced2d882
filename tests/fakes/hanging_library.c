/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library whose opening never ends. */
#include <unistd.h>

__attribute__((constructor)) static void hang(void) {
  for (;;) pause();
}
