/* SPDX-License-Identifier: Apache-2.0 */
/* A management library with made-up GPUs ("GPU-fake-0" ...), as far as Ridgeline uses one. For whole programs the variable
   RL_FAKE_NVML_NAMES lists the GPUs' names, joined by commas. */
#define _GNU_SOURCE
#include "fake_nvml.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { kSuccess = 0, kInvalid = 2, kUnsupported = 3, kNotFound = 6, kTooSmall = 7, kLost = 15 };

typedef struct { int index; int slice; } Device;  /* slice: 0 the whole GPU, else its number from 1 on */
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned gpu, memory; } Utilization;
typedef struct { unsigned pid; unsigned long long used; unsigned gpu_instance, compute_instance; } Process;
typedef struct { unsigned long long reference, violation; } Violation;
typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char text[32]; } Pci;
typedef struct { unsigned a, b; unsigned long long peak, time, start; unsigned running, reserved[5]; } Accounting;
typedef struct {
  unsigned field, scope;
  long long timestamp, latency;
  unsigned type;
  int status;
  unsigned long long value;
} Field;
typedef struct { unsigned pid; unsigned long long time; unsigned sm, memory, encoder, decoder; } Share;
typedef struct { const Device* device; double time; } GpmSample;
typedef struct { unsigned version, supported; } GpmSupport;
typedef struct { unsigned id; int status; double value; const char* names[3]; } GpmMetric;
typedef struct { unsigned version, count; GpmSample *before, *after; GpmMetric metrics[400]; } GpmMetrics;

#ifdef FAKE_OLD  /* as in 2019: the second version of the process list, throttle reasons by their first name */
enum { kDriver = 450 };
#define COMPUTE_PROCESSES nvmlDeviceGetComputeRunningProcesses_v2
#define GRAPHICS_PROCESSES nvmlDeviceGetGraphicsRunningProcesses_v2
#define CLOCK_REASONS nvmlDeviceGetCurrentClocksThrottleReasons
#else
enum { kDriver = 580 };
#define COMPUTE_PROCESSES nvmlDeviceGetComputeRunningProcesses_v3
#define GRAPHICS_PROCESSES nvmlDeviceGetGraphicsRunningProcesses_v3
#define CLOCK_REASONS nvmlDeviceGetCurrentClocksEventReasons
#endif

static long long values[kFakeKeys];
static Device devices[8] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}};
static Device slices[8][7];

EXPORT void fake_nvml_set(int key, long long value) { __atomic_store_n(&values[key], value, __ATOMIC_SEQ_CST); }
EXPORT long long fake_nvml_get(int key) { return __atomic_load_n(&values[key], __ATOMIC_SEQ_CST); }

static double started;
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
static double elapsed(void) { return now() - started; }

EXPORT void fake_nvml_script(const char* name) {
  memset(values, 0, sizeof values);
  started = now();
  fake_nvml_set(kFakeDeviceCount, 1);
  fake_nvml_set(kFakeMemoryUsed, 61000000000LL);
  fake_nvml_set(kFakeSmClock, 1980);
  fake_nvml_set(kFakePower, 480000);
  fake_nvml_set(kFakeMoving, 1);
  fake_nvml_set(kFakeGpm, 1);
  fake_nvml_set(kFakeNvlinks, 18);
  if (strcmp(name, "throttled") == 0) {
    fake_nvml_set(kFakeReasons, 0x4 | 0x20);
    fake_nvml_set(kFakeSmClock, 1245);
    fake_nvml_set(kFakePower, 648000);
    fake_nvml_set(kFakeTemperature, 87);
  }
  if (strcmp(name, "mig") == 0) fake_nvml_set(kFakeMig, 2);
  if (strcmp(name, "lost") == 0) {
    fake_nvml_set(kFakeDeviceError, kLost);
    fake_nvml_set(kFakeFailAfterMs, 2000);
  }
  if (strcmp(name, "slow") == 0) fake_nvml_set(kFakeSlowUs, 20000);
  if (strcmp(name, "eight") == 0) fake_nvml_set(kFakeDeviceCount, 8);
  if (strcmp(name, "errors") == 0) fake_nvml_set(kFakeDeviceError, 999);
}

/* For processes that nobody calls fake_nvml_set in: RL_FAKE_NVML="key=value,key=value". */
__attribute__((constructor)) static void read_environment(void) {
  started = now();
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 7; ++j) slices[i][j] = (Device){i, j + 1};
  const char* script = getenv("RL_FAKE_NVML_SCRIPT");
  if (script != NULL) fake_nvml_script(script);
  const char* text = getenv("RL_FAKE_NVML");
  int key = 0;
  int length = 0;
  long long value = 0;
  while (text != NULL && sscanf(text, "%d=%lld%n", &key, &value, &length) == 2 && key >= 0 && key < kFakeKeys) {
    fake_nvml_set(key, value);
    text += length;
    if (*text == ',') ++text;
  }
  const char* names = getenv("RL_FAKE_NVML_NAMES");
  if (names == NULL) return;
  int count = 1;
  while ((names = strchr(names, ',')) != NULL) ++names, ++count;
  fake_nvml_set(kFakeDeviceCount, count);
}

static int failing(const Device* device) {
  const long long only = fake_nvml_get(kFakeFailingDevice);
  if (only != 0 && only != device->index + 1) return kSuccess;
  return elapsed() * 1e3 >= (double)fake_nvml_get(kFakeFailAfterMs) ? (int)fake_nvml_get(kFakeDeviceError) : kSuccess;
}
/* What an optional reading of the device returns; every such function calls it once. */
static int reading(const Device* device) {
  __atomic_add_fetch(&values[kFakeDeviceCalls], 1, __ATOMIC_SEQ_CST);
  const long long slow = fake_nvml_get(kFakeSlowUs);
  if (slow > 0) usleep((useconds_t)slow);
  const int error = failing(device);
  return error != kSuccess ? error : fake_nvml_get(kFakeUnsupported) != 0 ? kUnsupported : kSuccess;
}
/* Between `low` and `high`: a slow swing with a faster one on top, another phase for each GPU. */
__attribute__((unused)) static double moving(const Device* device, double still, double low, double high) {
  if (fake_nvml_get(kFakeMoving) == 0) return still;
  const double t = elapsed() + 2.9 * device->index;
  const double wave = 0.5 + 0.34 * sin(t / 4.1) + 0.11 * sin(t * 1.3) + 0.05 * sin(t * 4.7);
  return low + (high - low) * wave;
}
static long long or_else(int key, long long value) {
  const long long set = fake_nvml_get(key);
  return set != 0 ? set : value;
}
__attribute__((unused)) static int set_unsigned(const Device* device, unsigned* out, double value) {
  *out = (unsigned)value;
  return reading(device);
}

EXPORT int nvmlInit_v2(void) { return (int)fake_nvml_get(kFakeInitStatus); }
EXPORT int nvmlShutdown(void) { return kSuccess; }
EXPORT const char* nvmlErrorString(int status) {
  return status == 9 ? "Driver Not Loaded" : status == kUnsupported ? "Not Supported" : status == kLost ? "GPU is lost" : "Error";
}
EXPORT int nvmlSystemGetDriverVersion(char* out, unsigned size) {
  snprintf(out, size, "%lld.65.06", or_else(kFakeDriver, kDriver));
  return kSuccess;
}
EXPORT int nvmlSystemGetCudaDriverVersion_v2(int* out) {
  *out = 13000;
  return kSuccess;
}
EXPORT int nvmlDeviceGetCount_v2(unsigned* out) {
  *out = (unsigned)fake_nvml_get(kFakeDeviceCount);
  return kSuccess;
}
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device** out) {
  if (index >= (unsigned)fake_nvml_get(kFakeDeviceCount)) return kInvalid;
  if ((long long)index + 1 == fake_nvml_get(kFakeLostDevice)) return kLost;
  __atomic_add_fetch(&values[kFakeDeviceCalls], 1, __ATOMIC_SEQ_CST);
  *out = &devices[index];
  return kSuccess;
}
EXPORT int nvmlDeviceGetHandleByUUID(const char* uuid, Device** out) {
  int index = -1;
  if (sscanf(uuid, "GPU-fake-%d", &index) != 1 || index < 0) return kInvalid;
  return nvmlDeviceGetHandleByIndex_v2((unsigned)index, out);
}
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, Device** out) {
  unsigned domain = 0, bus = 0;
  if (sscanf(bus_id, "%x:%x:", &domain, &bus) != 2 || bus == 0) return kInvalid;
  const int status = nvmlDeviceGetHandleByIndex_v2(bus - 1, out);
  return status == kInvalid ? kNotFound : status;
}
EXPORT int nvmlDeviceGetName(Device* device, char* out, unsigned size) {
  if (failing(device) != kSuccess) return failing(device);
  if (device->slice != 0) {
    snprintf(out, size, "NVIDIA H200 MIG 3g.71gb");
    return kSuccess;
  }
  const char* name = getenv("RL_FAKE_NVML_NAMES");
  for (int skip = device->index; name != NULL && skip > 0; --skip) {
    name = strchr(name, ',');
    if (name != NULL) ++name;
  }
  if (name == NULL) name = "NVIDIA H200";
  snprintf(out, size, "%.*s", (int)strcspn(name, ","), name);
  return kSuccess;
}
EXPORT int nvmlDeviceGetUUID(Device* device, char* out, unsigned size) {
  if (failing(device) != kSuccess) return failing(device);
  snprintf(out, size, device->slice != 0 ? "MIG-fake-%d-%d" : "GPU-fake-%d", device->index, device->slice - 1);
  return kSuccess;
}
#ifndef FAKE_MISSING
EXPORT int nvmlDeviceGetPciInfo_v3(Device* device, Pci* out) {
  memset(out, 0, sizeof *out);
  snprintf(out->text, sizeof out->text, "00000000:%02X:00.0", device->index + 1);
  return reading(device);
}
EXPORT int nvmlDeviceGetArchitecture(Device* device, unsigned* out) { return set_unsigned(device, out, 9); }
EXPORT int nvmlDeviceGetCudaComputeCapability(Device* device, int* major, int* minor) {
  *major = 9;
  *minor = 0;
  return reading(device);
}
EXPORT int nvmlDeviceGetNumGpuCores(Device* device, unsigned* out) { return set_unsigned(device, out, 16896); }
EXPORT int nvmlDeviceGetMemoryInfo(Device* device, Memory* out) {
  __atomic_add_fetch(&values[kFakeMemoryCalls], 1, __ATOMIC_SEQ_CST);
  out->total = device->slice != 0 ? 50000000000ULL : 100000000000ULL;
  out->used = (unsigned long long)((double)fake_nvml_get(kFakeMemoryUsed) * moving(device, 1, 0.9, 1.05));
  if (device->slice != 0) out->used /= 3;
  out->free = out->total - out->used;
  return reading(device);
}
EXPORT int nvmlDeviceGetClockInfo(Device* device, int type, unsigned* out) {
  return set_unsigned(device, out, type == 1 ? (double)fake_nvml_get(kFakeSmClock) - moving(device, 0, 0, 60) : 3201);
}
EXPORT int nvmlDeviceGetMaxClockInfo(Device* device, int type, unsigned* out) {
  return set_unsigned(device, out, type == 1 ? 1980 : 3201);
}
EXPORT int nvmlDeviceGetTemperature(Device* device, int sensor, unsigned* out) {
  return (void)sensor, set_unsigned(device, out, (double)or_else(kFakeTemperature, 41) + moving(device, 0, 0, 20));
}
EXPORT int nvmlDeviceGetPowerUsage(Device* device, unsigned* out) {
  return set_unsigned(device, out, (double)fake_nvml_get(kFakePower) * moving(device, 1, 0.7, 1.0));
}
EXPORT int nvmlDeviceGetEnforcedPowerLimit(Device* device, unsigned* out) { return set_unsigned(device, out, (double)or_else(kFakePowerLimit, 650000)); }
EXPORT int nvmlDeviceGetPowerManagementDefaultLimit(Device* device, unsigned* out) {
  return set_unsigned(device, out, (double)or_else(kFakeDefaultPowerLimit, 700000));
}
EXPORT int nvmlDeviceGetUtilizationRates(Device* device, Utilization* out) {
  out->gpu = (unsigned)moving(device, 87, 70, 100);
  out->memory = (unsigned)moving(device, 12, 8, 40);
  return reading(device);
}
EXPORT int CLOCK_REASONS(Device* device, unsigned long long* out) {
  *out = (unsigned long long)fake_nvml_get(kFakeReasons);
  return reading(device);
}
/* The next process of RL_FAKE_NVML_PROCESSES on this GPU. */
static const char* next_listed(const char* text, const Device* device, unsigned* pid, unsigned* mib, unsigned* sm, char* kind) {
  while (text != NULL && *text != 0) {
    int gpu = 0, length = 0;
    if (sscanf(text, "%d:%u:%u:%u:%c%n", &gpu, pid, mib, sm, kind, &length) != 5) return NULL;
    text += length;
    if (*text == ',') ++text;
    if (gpu == device->index) return text;
  }
  return NULL;
}
static unsigned listed(const Device* device, char other_kind, Process* out) {
  unsigned count = 0, pid = 0, mib = 0, sm = 0;
  char kind = 0;
  const char* text = getenv("RL_FAKE_NVML_PROCESSES");
  while ((text = next_listed(text, device, &pid, &mib, &sm, &kind)) != NULL)
    if (kind != other_kind) {
      if (out != NULL) out[count] = (Process){pid, (unsigned long long)mib << 20, ~0U, ~0U};
      ++count;
    }
  return count;
}
EXPORT int COMPUTE_PROCESSES(Device* device, unsigned* count, Process* out) {
  const unsigned own = fake_nvml_get(kFakeOwnPid) != 0;
  const unsigned other = fake_nvml_get(kFakeOtherPid) != 0;
  const unsigned many = (unsigned)fake_nvml_get(kFakeManyProcesses);
  const unsigned total = own + other + many + listed(device, 'G', NULL);
  if (*count < total) {
    *count = total;
    return kTooSmall;
  }
  *count = total;
  memset(out, 0, total * sizeof *out);
  if (own) {
    out->pid = (unsigned)fake_nvml_get(kFakeOwnPid);
    out->used = (unsigned long long)fake_nvml_get(kFakeOwnMemory);
    ++out;
  }
  if (other) {
    out->pid = (unsigned)fake_nvml_get(kFakeOtherPid);
    out->used = 1000000000ULL;
    ++out;
  }
  for (unsigned i = 0; i < many; ++i) out[i].pid = 100000 + i;
  listed(device, 'G', out + many);
  return reading(device);
}
static unsigned long long slowdown_ns(int key, double share) {
  const int held = fake_nvml_get(kFakeMoving) != 0 && fake_nvml_get(kFakeReasons) != 0;
  return (unsigned long long)fake_nvml_get(key) + (held ? (unsigned long long)(elapsed() * share * 1e9) : 0);
}
EXPORT int nvmlDeviceGetViolationStatus(Device* device, int policy, Violation* out) {
  if (fake_nvml_get(kFakeNoViolationStatus) != 0 || policy > 1) return kUnsupported;
  out->violation = policy == 0 ? slowdown_ns(kFakePowerViolation, 0.6) : slowdown_ns(kFakeThermalViolation, 0.25);
  return reading(device);
}
#ifndef FAKE_OLD
EXPORT int nvmlDeviceGetFieldValues(Device* device, int count, Field* out) {
  int slowdowns = 0;
  for (int i = 0; i < count; ++i) slowdowns = slowdowns || out[i].field == 74;
  if (slowdowns) __atomic_add_fetch(&values[kFakeSlowdownCalls], 1, __ATOMIC_SEQ_CST);
  const int rich = fake_nvml_get(kFakeMoving) != 0;
  for (int i = 0; i < count; ++i) {
    out[i].type = 3;
    out[i].status = fake_nvml_get(kFakeNoViolationStatus) > 1 ? kUnsupported : kSuccess;
    switch (out[i].field) {
      case 74: out[i].value = slowdown_ns(kFakePowerViolation, 0.6); continue;
      case 75: out[i].value = slowdown_ns(kFakeThermalViolation, 0.25); continue;
      default: break;
    }
    out[i].status = rich ? kSuccess : kUnsupported;
    switch (out[i].field) {
      case 76: case 270: case 271: out[i].value = 0; break;
      case 82: out[i].value = 52; out[i].type = 1; break;
      case 138: case 139:
        out[i].value = (unsigned long long)(elapsed() * 1e6);
        if (fake_nvml_get(kFakeNvlinks) == 0) out[i].status = kUnsupported;
        break;
      case 186:
        out[i].type = 1;
        out[i].value = (unsigned)((double)fake_nvml_get(kFakePower) * moving(device, 1, 0.7, 1.0));
        break;
      case 197: case 198:
        out[i].value = (unsigned long long)(elapsed() * 2e9);
        if (fake_nvml_get(kFakePcieBytes) == 0) break;
        out[i].status = kSuccess;
        out[i].type = 1;
        out[i].value = (unsigned)fake_nvml_get(kFakePcieBytes);
        break;
      case 269: out[i].value = slowdown_ns(kFakeThermalViolation, 0.25); break;
      default: out[i].status = kUnsupported; break;
    }
  }
  return reading(device);
}
EXPORT int nvmlDeviceGetTotalEnergyConsumption(Device* device, unsigned long long* out) {
  __atomic_add_fetch(&values[kFakeEnergyCalls], 1, __ATOMIC_SEQ_CST);
  *out = (unsigned long long)fake_nvml_get(kFakeEnergy);
  if (fake_nvml_get(kFakeMoving) != 0) *out += 5000000000ULL + (unsigned long long)(elapsed() * (double)fake_nvml_get(kFakePower));
  return reading(device);
}
#endif
EXPORT int nvmlDeviceGetMigMode(Device* device, unsigned* current, unsigned* pending) {
  *current = *pending = fake_nvml_get(kFakeMig) != 0;
  return reading(device);
}
EXPORT int nvmlDeviceGetEccMode(Device* device, int* current, int* pending) {
  *current = *pending = 1;
  return reading(device);
}
EXPORT int nvmlDeviceGetPersistenceMode(Device* device, int* out) {
  *out = fake_nvml_get(kFakePersistenceOff) == 0;
  return reading(device);
}
EXPORT int nvmlDeviceGetAccountingMode(Device* device, int* out) {
  *out = fake_nvml_get(kFakeAccountingPeak) != 0;
  return reading(device);
}
EXPORT int nvmlDeviceGetAccountingStats(Device* device, unsigned pid, Accounting* out) {
  if ((long long)pid != fake_nvml_get(kFakeOwnPid)) return kNotFound;
  memset(out, 0, sizeof *out);
  out->peak = (unsigned long long)fake_nvml_get(kFakeAccountingPeak);
  return reading(device);
}

EXPORT int nvmlDeviceGetMemoryBusWidth(Device* device, unsigned* out) { return set_unsigned(device, out, 6144); }
EXPORT int nvmlDeviceGetPerformanceState(Device* device, int* out) {
  *out = 0;
  return reading(device);
}
EXPORT int nvmlDeviceGetFanSpeed(Device* device, unsigned* out) {
  return (void)device, (void)out, kUnsupported;  /* a passively cooled card */
}
EXPORT int nvmlDeviceGetTemperatureThreshold(Device* device, int which, unsigned* out) {
  return set_unsigned(device, out, which == 0 ? 95 : 89);
}
static int codec(const Device* device, unsigned* percent, unsigned* period) {
  *percent = 0;
  *period = 166667;
  return reading(device);
}
EXPORT int nvmlDeviceGetEncoderUtilization(Device* device, unsigned* percent, unsigned* period) {
  return codec(device, percent, period);
}
EXPORT int nvmlDeviceGetDecoderUtilization(Device* device, unsigned* percent, unsigned* period) {
  return codec(device, percent, period);
}
EXPORT int nvmlDeviceGetCurrPcieLinkGeneration(Device* device, unsigned* out) {
  return set_unsigned(device, out, (double)or_else(kFakePcieGeneration, 5));
}
EXPORT int nvmlDeviceGetCurrPcieLinkWidth(Device* device, unsigned* out) {
  return set_unsigned(device, out, (double)or_else(kFakePcieWidth, 16));
}
EXPORT int nvmlDeviceGetMaxPcieLinkGeneration(Device* device, unsigned* out) { return set_unsigned(device, out, 5); }
EXPORT int nvmlDeviceGetMaxPcieLinkWidth(Device* device, unsigned* out) { return set_unsigned(device, out, 16); }
EXPORT int nvmlDeviceGetPcieThroughput(Device* device, int direction, unsigned* out) {
  __atomic_add_fetch(&values[kFakeSlowCalls], 1, __ATOMIC_SEQ_CST);
  usleep(20000);  /* as the real one */
  return set_unsigned(device, out, direction == 0 ? 1500000 : 2500000);
}
EXPORT int nvmlDeviceGetNvLinkState(Device* device, unsigned link, int* out) {
  if ((long long)link >= fake_nvml_get(kFakeNvlinks)) return kInvalid;
  *out = (long long)link >= fake_nvml_get(kFakeNvlinksDown);
  return reading(device);
}
EXPORT int GRAPHICS_PROCESSES(Device* device, unsigned* count, Process* out) {
  const unsigned total = listed(device, 'C', NULL);
  const int fits = *count >= total;
  *count = total;
  if (!fits) return kTooSmall;
  listed(device, 'C', out);
  return reading(device);
}
EXPORT int nvmlDeviceGetComputeMode(Device* device, unsigned* out) {
  return set_unsigned(device, out, (double)fake_nvml_get(kFakeComputeMode));
}
EXPORT int nvmlDeviceGetTotalEccErrors(Device* device, int type, int counter, unsigned long long* out) {
  (void)counter;
  *out = type == 0 ? 0 : (unsigned long long)fake_nvml_get(kFakeEccUncorrected);
  return reading(device);
}
#ifndef FAKE_OLD
EXPORT int nvmlDeviceGetProcessUtilization(Device* device, Share* out, unsigned* count, unsigned long long since) {
  (void)since;
  __atomic_add_fetch(&values[kFakeShareCalls], 1, __ATOMIC_SEQ_CST);
  unsigned total = 0, pid = 0, mib = 0, sm = 0;
  char kind = 0;
  const char* text = getenv("RL_FAKE_NVML_PROCESSES");
  while ((text = next_listed(text, device, &pid, &mib, &sm, &kind)) != NULL) {
    if (total < *count) out[total] = (Share){pid, (unsigned long long)(now() * 1e6), sm, 0, 0, 0};
    ++total;
  }
  const int fits = total <= *count;
  *count = total;
  const int status = reading(device);
  return status != kSuccess ? status : total == 0 ? kNotFound : fits ? kSuccess : kTooSmall;
}
EXPORT int nvmlDeviceGetRemappedRows(Device* device, unsigned* corrected, unsigned* uncorrected, unsigned* pending, unsigned* failure) {
  *corrected = 0;
  *uncorrected = fake_nvml_get(kFakeRemapPending) != 0;
  *pending = fake_nvml_get(kFakeRemapPending) != 0;
  *failure = fake_nvml_get(kFakeRemapFailure) != 0;
  return reading(device);
}
EXPORT int nvmlDeviceGetMaxMigDeviceCount(Device* device, unsigned* out) { return set_unsigned(device, out, 7); }
EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(Device* device, unsigned index, Device** out) {
  if ((long long)index >= fake_nvml_get(kFakeMig)) return kNotFound;
  *out = &slices[device->index][index];
  return reading(device);
}
EXPORT int nvmlDeviceGetGpuInstanceId(Device* device, unsigned* out) { return set_unsigned(device, out, device->slice); }

EXPORT int nvmlGpmQueryDeviceSupport(Device* device, GpmSupport* out) {
  if (out->version != 1) return kInvalid;
  out->supported = fake_nvml_get(kFakeGpm) != 0;
  return reading(device);
}
EXPORT int nvmlGpmSampleAlloc(GpmSample** out) {
  *out = calloc(1, sizeof **out);
  return kSuccess;
}
EXPORT int nvmlGpmSampleFree(GpmSample* sample) {
  free(sample);
  return kSuccess;
}
EXPORT int nvmlGpmSampleGet(Device* device, GpmSample* sample) {
  __atomic_add_fetch(&values[kFakeGpmCalls], 1, __ATOMIC_SEQ_CST);
  sample->device = device;
  sample->time = now();
  return reading(device);
}
EXPORT int nvmlGpmMigSampleGet(Device* device, unsigned instance, GpmSample* sample) {
  if (instance == 0) return kInvalid;
  return nvmlGpmSampleGet(device, sample);
}
EXPORT int nvmlGpmMetricsGet(GpmMetrics* request) {
  if (request->version != 1 || request->before->device != request->after->device ||
      request->after->time <= request->before->time)
    return kInvalid;
  const Device* device = request->after->device;
  const volatile double zero = 0;
  for (unsigned i = 0; i < request->count; ++i) {
    GpmMetric* metric = &request->metrics[i];
    metric->status = kSuccess;
    switch (metric->id) {
      case 1: metric->value = moving(device, 61, 45, 96); break;
      case 2: metric->value = moving(device, 80, 52, 97); break;
      case 3: metric->value = moving(device, 14, 10, 35); break;
      case 5: metric->value = moving(device, 55, 20, 93); break;
      case 10: metric->value = fake_nvml_get(kFakeGpm) == 2 ? 0.0 / zero : moving(device, 30, 12, 74); break;
      case 20: case 21:
        metric->value = metric->id == 20 ? moving(device, 800, 200, 2400) : moving(device, 1600, 900, 9000);
        if (fake_nvml_get(kFakeGpm) == 3) metric->value = 0.0 / zero;
        break;
      case 60: case 61:
        metric->value = moving(device, 20000, 9000, 160000);
        if (fake_nvml_get(kFakeNvlinks) == 0) metric->status = kUnsupported;
        break;
      default: metric->status = kUnsupported; break;
    }
  }
  return reading(device);
}
#endif
#endif
