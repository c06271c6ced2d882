/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the recording library; each call is a line "THREAD WHAT TEXT" of the file $RECORDER_LOG.PID. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kNames = 100000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char* names[kNames];
static uint32_t count;
static FILE* out;
static int owner;

static void record(const char* what, const char* text) {
  const char* log = getenv("RECORDER_LOG");
  if (log == NULL) return;
  pthread_mutex_lock(&lock);
  if (out == NULL || owner != getpid()) {
    char path[4096];
    owner = getpid();
    snprintf(path, sizeof path, "%s.%d", log, owner);
    out = fopen(path, "a");
  }
  if (out != NULL) {
    fprintf(out, "%ld %s %s\n", syscall(SYS_gettid), what, text);
    fflush(out);
  }
  pthread_mutex_unlock(&lock);
}

int32_t ridgeline_trace_start(void) {
  record("start", "");
  return 0;
}

uint32_t ridgeline_trace_name(const char* text) {
  pthread_mutex_lock(&lock);
  uint32_t number = 0;
  while (number < count && strcmp(names[number], text) != 0) ++number;
  if (number == count && count < kNames) names[count++] = strdup(text);
  pthread_mutex_unlock(&lock);
  return number;
}

void ridgeline_trace_push(uint32_t name, int32_t kind) {
  char what[16];
  snprintf(what, sizeof what, "push%d", kind);
  record(what, names[name]);
}

void ridgeline_trace_pop(void) { record("pop", ""); }
void ridgeline_trace_step(void) { record("step", ""); }
void ridgeline_trace_flush(void) { record("flush", ""); }
void ridgeline_trace_capture(int32_t begins) { record("capture", begins ? "begins" : "ends"); }
void ridgeline_trace_profiler(int32_t starts) { record("profiler", starts ? "starts" : "stops"); }
/* For tests: what runs now, as the program itself knows it. */
void recorder_mark(const char* text) { record("mark", text); }
