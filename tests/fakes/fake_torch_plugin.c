/* SPDX-License-Identifier: Apache-2.0 */
/* A training plugin for tests. Which faults it has is said by the model's name ("oom_type", "refuse", "nan" ...); built
 * with RL_FAKE_OTHER_ABI, RL_FAKE_SHORT or RL_FAKE_NO_ENTRY it is one that cannot be used. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/training/plugin_abi.h"

struct rl_train_trial {
  rl_train_request request;
  char model[64];
  const rl_train_source* source;
  double last_input;
};

static int32_t report(rl_train_error* error, int32_t code, int32_t evidence, const char* message) {
  error->code = code;
  error->evidence = evidence;
  snprintf(error->message, sizeof error->message, "%s", message);
  return code;
}

static int32_t cuda_devices(void) { return 0; }
static void* alloc_pinned(size_t bytes) { return bytes > (1U << 20U) ? NULL : malloc(bytes); }
static void free_pinned(void* memory) { free(memory); }

static int32_t create(const rl_train_request* request, const rl_train_source* source, rl_train_trial** out,
                      rl_train_error* error) {
  if (strcmp(request->model, "refuse") == 0) return report(error, RL_TRAIN_INVALID, 0, "no model \"refuse\"");
  if (strcmp(request->model, "absent") == 0) return report(error, RL_TRAIN_UNAVAILABLE, 0, "no such device");
  if (strcmp(request->model, "unsupported") == 0) return report(error, RL_TRAIN_UNSUPPORTED, 0, "not here");
  if (strcmp(request->model, "echo") == 0) return report(error, RL_TRAIN_INVALID, 0, request->options_json);
  *out = calloc(1, sizeof **out);
  (*out)->request = *request;
  (*out)->source = source;
  snprintf((*out)->model, sizeof(*out)->model, "%s", request->model);
  return RL_TRAIN_OK;
}

static int32_t run(rl_train_trial* trial, int64_t count, rl_train_step* steps, double* wall_ms, rl_train_error* error) {
  static const struct {
    const char* model;
    int32_t code;
    int32_t evidence;
    const char* message;
  } faults[] = {
      {"oom_type", RL_TRAIN_OUT_OF_MEMORY, RL_OOM_TYPE, "out of memory by type"},
      {"oom_code", RL_TRAIN_OUT_OF_MEMORY, RL_OOM_ERROR_CODE, "out of memory by code"},
      {"oom_counter", RL_TRAIN_OUT_OF_MEMORY, RL_OOM_ALLOCATOR_COUNTER, "an error beside a failed allocation"},
      {"oom_text", RL_TRAIN_FAILED, RL_OOM_NONE, "DefaultCPUAllocator: can't allocate memory: you tried 1 PB"},
      {"broken", RL_TRAIN_FAILED, RL_OOM_NONE, "shapes cannot be multiplied"},
      {"mute", 77, RL_OOM_NONE, ""},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i)
    if (strcmp(trial->model, faults[i].model) == 0)
      return report(error, faults[i].code, faults[i].evidence, faults[i].message);
  if (strcmp(trial->model, "die") == 0) abort();
  *wall_ms = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (trial->source != NULL) {
      rl_train_batch batch;
      memset(&batch, 0, sizeof batch);
      batch.struct_size = sizeof batch;
      const int32_t code = trial->source->next(trial->source->self, &batch, error);
      if (code != RL_TRAIN_OK) return code;
      trial->last_input = batch.input.dtype == RL_DTYPE_INT32 ? *(const int32_t*)batch.input.data : 0;
      trial->source->release(trial->source->self, &batch);
    }
    const rl_train_step step = {1, 2, 3, 4, 5, 6, 21};
    steps[i] = step;
    *wall_ms += 21;
  }
  return RL_TRAIN_OK;
}

static int32_t reset_peaks(rl_train_trial* trial, rl_train_error* error) {
  (void)trial;
  (void)error;
  return RL_TRAIN_OK;
}

static int32_t stats(rl_train_trial* trial, rl_train_stats* out, rl_train_error* error) {
  (void)error;
  rl_train_stats known;
  memset(&known, 0, sizeof known);
  known.struct_size = out->struct_size;
  known.peak_allocated_bytes = 1500000000;
  known.peak_reserved_bytes = 2000000000;
  known.capacity_bytes = -1;
  known.alloc_retries = 3;
  known.num_ooms = 0;
  known.skipped_steps = -1;
  known.gpu_busy = -1;
  known.last_loss = strcmp(trial->model, "nan") == 0 ? (double)NAN : trial->source != NULL ? trial->last_input : 0.25;
  known.has_loss = strcmp(trial->model, "lossless") == 0 ? 0 : 1;
  memcpy(out, &known, out->struct_size < sizeof known ? out->struct_size : sizeof known);
  return RL_TRAIN_OK;
}

static void destroy(rl_train_trial* trial) { free(trial); }
static int32_t release_memory(void) { return 1; }

#ifndef RL_FAKE_NO_ENTRY
__attribute__((visibility("default"))) const rl_train_api* ridgeline_train_api(uint32_t abi_version) {
  static rl_train_api api = {sizeof(rl_train_api),
                             RL_TRAIN_ABI_VERSION,
                             "9.9.9",
                             "[]",
                             cuda_devices,
                             alloc_pinned,
                             free_pinned,
                             create,
                             run,
                             reset_peaks,
                             stats,
                             destroy,
                             release_memory};
#ifdef RL_FAKE_OTHER_ABI
  (void)api;
  return abi_version == 2 ? &api : NULL;
#else
#ifdef RL_FAKE_FIRST
  /* A plugin built before release_memory was appended. */
  api.struct_size = offsetof(rl_train_api, release_memory);
#endif
#ifdef RL_FAKE_SHORT
  api.struct_size = offsetof(rl_train_api, destroy);
#endif
#ifdef RL_FAKE_LONGER
  /* A later plugin, whose table has grown. */
  static struct {
    rl_train_api known;
    void (*later)(void);
  } grown;
  grown.known = api;
  grown.known.struct_size = sizeof grown;
  return abi_version == RL_TRAIN_ABI_VERSION ? &grown.known : NULL;
#endif
  return abi_version == RL_TRAIN_ABI_VERSION ? &api : NULL;
#endif
}
#endif
