/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface between Ridgeline's training worker and ridgeline_torch.so, which is built against the LibTorch that
 * the user has. C types only, no exception crosses it. The worker opens the plugin with dlopen, looks up RL_TRAIN_ENTRY
 * and calls it with its own version; NULL means that the plugin cannot serve that version.
 *
 * Growth: fields are appended, never moved; every struct begins with its size as its writer knows it, and a reader
 * takes what lies beyond that size as absent. A change that breaks this raises RL_TRAIN_ABI_VERSION. Threads: one
 * thread at a time calls a trial's functions. Strings are UTF-8, owned by whoever made them: arguments live until the
 * call returns, results until the next call on the same object. Times in ms, memory in bytes. */
#ifndef RIDGELINE_WORKLOAD_TRAINING_PLUGIN_ABI_H
#define RIDGELINE_WORKLOAD_TRAINING_PLUGIN_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RL_TRAIN_ABI_VERSION 1u
#define RL_TRAIN_ENTRY "ridgeline_train_api"

enum rl_train_code {
  RL_TRAIN_OK = 0,
  RL_TRAIN_INVALID = 1,       /* the request itself: unknown model, loss, optimizer, option; the user can fix it */
  RL_TRAIN_OUT_OF_MEMORY = 2, /* set `evidence`; never by text where anything better is known */
  RL_TRAIN_UNSUPPORTED = 3,   /* well-formed, but not with this torch or device */
  RL_TRAIN_UNAVAILABLE = 4,   /* no such device, no CUDA in this torch */
  RL_TRAIN_FAILED = 5         /* everything else */
};

enum rl_train_oom_evidence { /* the numbers of schema::OomEvidence */
                             RL_OOM_NONE = 0,
                             RL_OOM_TYPE = 1,              /* c10::OutOfMemoryError, std::bad_alloc */
                             RL_OOM_ERROR_CODE = 2,        /* cudaErrorMemoryAllocation, CUBLAS_STATUS_ALLOC_FAILED */
                             RL_OOM_ALLOCATOR_COUNTER = 3, /* num_ooms rose during the call */
                             RL_OOM_TEXT = 6
};

typedef struct rl_train_error {
  uint32_t struct_size; /* set by the caller */
  int32_t code;         /* rl_train_code */
  int32_t evidence;     /* rl_train_oom_evidence */
  char message[1024];   /* one line, ends with NUL */
} rl_train_error;

/* Element types of data. */
enum rl_train_dtype {
  RL_DTYPE_FLOAT32 = 0,
  RL_DTYPE_FLOAT64 = 1,
  RL_DTYPE_FLOAT16 = 2,
  RL_DTYPE_UINT8 = 3,
  RL_DTYPE_INT8 = 4,
  RL_DTYPE_INT16 = 5,
  RL_DTYPE_INT32 = 6,
  RL_DTYPE_INT64 = 7,
  RL_DTYPE_UINT16 = 8
};

#define RL_TRAIN_MAX_DIMS 8

/* One dense row-major host array; dims[0] is the number of samples. */
typedef struct rl_train_array {
  void* data;
  int32_t dtype; /* rl_train_dtype */
  int32_t rank;
  int64_t dims[RL_TRAIN_MAX_DIMS];
} rl_train_array;

typedef struct rl_train_batch {
  uint32_t struct_size;
  int32_t pinned; /* 1: `data` is page-locked, an asynchronous copy may be used */
  rl_train_array input;
  rl_train_array label; /* data NULL: the data set has no labels */
  void* token;          /* of the source */
} rl_train_batch;

/* Where batches come from: Ridgeline's own loader, called by the plugin in its step loop. */
typedef struct rl_train_source {
  uint32_t struct_size;
  void* self;
  /* Shapes and types of one batch, without data: to build the model for. */
  int32_t (*describe)(void* self, rl_train_batch* out, rl_train_error* error);
  /* Blocks until the next batch is there. Endless: starts the next epoch by itself. */
  int32_t (*next)(void* self, rl_train_batch* out, rl_train_error* error);
  /* The batch's memory may be used again: to be called when the device has finished reading it. */
  void (*release)(void* self, const rl_train_batch* batch);
} rl_train_source;

enum rl_train_amp { RL_AMP_OFF = 0, RL_AMP_BF16 = 1, RL_AMP_FP16 = 2 }; /* schema::AmpMode */
enum rl_train_data { RL_DATA_LOADER = 0, RL_DATA_HOST = 1, RL_DATA_DEVICE = 2, RL_DATA_LOADER_ONLY = 3 }; /* DataMode */

typedef struct rl_train_request {
  uint32_t struct_size;
  int64_t batch;
  int32_t workers;
  int32_t amp; /* rl_train_amp */
  int32_t pin_memory;
  int32_t data; /* rl_train_data */
  uint64_t seed;
  const char* device; /* "cpu", "cuda:0" */
  const char* model;  /* a built-in model's name, or the path of a TorchScript file */
  const char*
      options_json; /* an object of strings: loss, optimizer, learning_rate, depth, width, hidden, classes ... */
} rl_train_request;

/* schema::StepPhases, in its order. */
typedef struct rl_train_step {
  double io_wait_ms, h2d_ms, forward_ms, backward_ms, optimizer_ms, rest_ms, wall_ms;
} rl_train_step;

/* What is not known is negative. */
typedef struct rl_train_stats {
  uint32_t struct_size;
  int64_t peak_allocated_bytes;
  int64_t peak_reserved_bytes;
  int64_t capacity_bytes;
  int64_t alloc_retries;
  int64_t num_ooms;
  int64_t skipped_steps;
  double gpu_busy;  /* share of the window */
  double last_loss; /* NaN stays NaN: a diverging model is a finding, not an error; -1 and has_loss 0: unknown */
  int32_t has_loss;
  /* Appended. */
  int64_t parameters; /* numbers that are trained */
} rl_train_stats;

typedef struct rl_train_trial rl_train_trial;

typedef struct rl_train_api {
  uint32_t struct_size;
  uint32_t abi_version;
  const char* torch_version; /* "2.11.0+cu130" */
  const char* models_json;   /* [{"name": "resnet18", "options": {"classes": "1000"}, "about": "..."}, ...] */
  /* Number of CUDA devices that this torch can use; 0 in a CPU build. */
  int32_t (*cuda_devices)(void);
  /* Page-locked host memory for the source's buffers; NULL when it is not to be had (a CPU build). */
  void* (*alloc_pinned)(size_t bytes);
  void (*free_pinned)(void* memory);
  /* Builds model and optimizer. `source` outlives the trial; NULL makes random data by options input=3x224x224,
   * classes. */
  int32_t (*create)(const rl_train_request* request, const rl_train_source* source, rl_train_trial** out,
                    rl_train_error* error);
  /* Runs `count` steps, fills `steps`, and in `wall_ms` the window's length by the host's clock, waiting for the device
   * at both ends and nowhere between. */
  int32_t (*run)(rl_train_trial* trial, int64_t count, rl_train_step* steps, double* wall_ms, rl_train_error* error);
  int32_t (*reset_peaks)(rl_train_trial* trial, rl_train_error* error);
  int32_t (*stats)(rl_train_trial* trial, rl_train_stats* out, rl_train_error* error);
  void (*destroy)(rl_train_trial* trial);
  /* Appended; absent in plugins whose struct_size ends before it. Called when no trial is alive: gives the memory back
   * that the device's allocator keeps for later, so that another trial of this process begins as the first did. 1:
   * done; 0: this torch has no way to. */
  int32_t (*release_memory)(void);
} rl_train_api;

typedef const rl_train_api* (*rl_train_entry)(uint32_t abi_version);

#ifdef __cplusplus
}
#endif

#endif /* RIDGELINE_WORKLOAD_TRAINING_PLUGIN_ABI_H */
