/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA driver whose GPU memory is host memory and whose streams do everything at once. fake_cuda_fail makes every
 * allocation fail with a status, fake_cuda_fail_launch every launch; fake_cuda_live counts what was made and not given
 * back, fake_cuda_launches kernels, fake_cuda_turns those on another stream than the one before. Kernels with an
 * argument do nothing unless fake_cuda_run names what they are. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static _Atomic int init_status, alloc_status, launch_status, live, launches, turns;
static void* _Atomic last_stream;
static void (*run_kernel)(const void* argument, unsigned x, unsigned y, unsigned z);
static _Thread_local int current;
static int context;

EXPORT void fake_cuda_init(int status) { init_status = status; }
EXPORT void fake_cuda_run(void (*kernel)(const void* argument, unsigned x, unsigned y, unsigned z)) { run_kernel = kernel; }
EXPORT void fake_cuda_fail(int status) { alloc_status = status; }
EXPORT void fake_cuda_fail_launch(int status) { launch_status = status; }
EXPORT int fake_cuda_live(void) { return live; }
EXPORT int fake_cuda_launches(void) { return launches; }
EXPORT int fake_cuda_turns(void) { return turns; }

static int make(void** out, size_t bytes) {
  if (alloc_status != 0) return alloc_status;
  *out = malloc(bytes);
  ++live;
  return 0;
}
static int drop(void* object) {
  free(object);
  --live;
  return 0;
}

EXPORT int cuInit(unsigned flags) { return flags == 0 ? init_status : 1; }
EXPORT int cuDriverGetVersion(int* out) { return *out = 13000, 0; }
EXPORT int cuDeviceGetCount(int* out) { return *out = 2, 0; }
EXPORT int cuGetErrorName(int status, const char** out) {
  *out = status == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : status == 100 ? "CUDA_ERROR_NO_DEVICE" : NULL;
  return *out != NULL ? 0 : 1;
}
EXPORT int cuGetErrorString(int status, const char** out) {
  *out = status == 2 ? "out of memory" : status == 100 ? "no CUDA-capable device is detected" : NULL;
  return *out != NULL ? 0 : 1;
}
EXPORT int cuDevicePrimaryCtxRetain(void** out, int device) {
  if (device >= 2) return 101;
  *out = &context;
  ++live;
  return 0;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  --live;
  return 0;
}
EXPORT int cuCtxSetCurrent(void* context) { return current = context != NULL, 0; }
EXPORT int cuCtxSynchronize(void) { return current ? 0 : 201; }
EXPORT int cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  *free_bytes = 7000;
  *total = 8000;
  return current ? 0 : 201;
}
EXPORT int cuMemHostAlloc(void** out, size_t bytes, unsigned flags) { return flags == 1 ? make(out, bytes) : 1; }
EXPORT int cuMemFreeHost(void* data) { return drop(data); }
EXPORT int cuMemAlloc_v2(unsigned long long* out, size_t bytes) {
  void* data = NULL;
  const int status = make(&data, bytes);
  *out = (unsigned long long)(size_t)data;
  return status;
}
EXPORT int cuMemFree_v2(unsigned long long address) { return drop((void*)(size_t)address); }
EXPORT int cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t bytes) {
  return memcpy((void*)(size_t)to, from, bytes), 0;
}
EXPORT int cuMemcpyDtoH_v2(void* to, unsigned long long from, size_t bytes) {
  return memcpy(to, (const void*)(size_t)from, bytes), 0;
}
EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, size_t bytes, void* stream) {
  return stream != NULL ? cuMemcpyHtoD_v2(to, from, bytes) : 400;
}
EXPORT int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, size_t bytes, void* stream) {
  return stream != NULL ? cuMemcpyDtoH_v2(to, from, bytes) : 400;
}
EXPORT int cuStreamCreate(void** out, unsigned flags) { return flags == 1 ? make(out, 1) : 1; }
EXPORT int cuStreamDestroy_v2(void* stream) { return drop(stream); }
EXPORT int cuStreamSynchronize(void* stream) { return stream != NULL ? 0 : 400; }
EXPORT int cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return stream != NULL && event != NULL && flags == 0 ? 0 : 400;
}
EXPORT int cuMemsetD8_v2(unsigned long long to, unsigned char value, size_t bytes) {
  return memset((void*)(size_t)to, value, bytes), 0;
}
EXPORT int cuEventCreate(void** out, unsigned flags) { return flags <= 1 ? make(out, 1) : 1; }
EXPORT int cuEventRecord(void* event, void* stream) { return event != NULL && stream != NULL ? 0 : 400; }
EXPORT int cuEventSynchronize(void* event) { return event != NULL ? 0 : 400; }
EXPORT int cuEventElapsedTime(float* out, void* start, void* end) { return *out = 1.5F, start != end ? 0 : 400; }
EXPORT int cuEventDestroy_v2(void* event) { return drop(event); }
EXPORT int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes, void* stream) {
  return stream != NULL ? cuMemcpyHtoD_v2(to, (const void*)(size_t)from, bytes) : 400;
}
struct side {
  size_t x_bytes, y;
  int memory_type;
  void* host;
  unsigned long long device;
  void* array;
  size_t pitch;
};
EXPORT int cuMemcpy2DAsync_v2(const struct { struct side from, to; size_t width, height; } * copy, void* stream) {
  if (stream == NULL || copy->from.memory_type != 2 || copy->to.memory_type != 2) return 400;
  for (size_t row = 0; row < copy->height; ++row)
    memcpy((char*)(size_t)copy->to.device + row * copy->to.pitch,
           (const char*)(size_t)copy->from.device + row * copy->from.pitch, copy->width);
  return 0;
}
EXPORT int cuModuleLoadData(void** out, const void* ptx) {
  return strstr((const char*)ptx, ".entry") != NULL ? make(out, 1) : 218;
}
EXPORT int cuModuleGetFunction(void** out, void* module, const char* name) {
  *out = module;
  return strcmp(name, "absent") == 0 ? 500 : 0;
}
EXPORT int cuModuleUnload(void* module) { return drop(module); }
EXPORT int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void* stream, void** arguments, void** extra) {
  (void)shared, (void)extra;
  if (launch_status != 0) return launch_status;
  ++launches;
  turns += stream != last_stream;
  last_stream = stream;
  if (arguments != NULL) {
    if (run_kernel != NULL) run_kernel(arguments[0], gx * bx, gy * by, gz * bz);
    return function != NULL && stream != NULL && bx * by * bz <= 1024 ? 0 : 400;
  }
  return function != NULL && stream != NULL && gx * gy * gz * bx * by * bz == 1 ? 0 : 400;
}
