/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library that kills the process that opens it. */
#include <signal.h>

__attribute__((constructor)) static void crash(void) { raise(SIGSEGV); }
