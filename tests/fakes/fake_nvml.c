/* SPDX-License-Identifier: Apache-2.0 */
/* A management library with made-up GPUs ("GPU-fake-0" ...), as far as Ridgeline uses one. For whole programs the variable
   RL_FAKE_NVML_NAMES lists the GPUs' names, joined by commas. */
#include "fake_nvml.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { kSuccess = 0, kInvalid = 2, kUnsupported = 3, kNotFound = 6, kTooSmall = 7, kLost = 15 };

typedef struct { int index; } Device;
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

static long long values[kFakeKeys];
static Device devices[8] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};

EXPORT void fake_nvml_set(int key, long long value) { __atomic_store_n(&values[key], value, __ATOMIC_SEQ_CST); }
EXPORT long long fake_nvml_get(int key) { return __atomic_load_n(&values[key], __ATOMIC_SEQ_CST); }
/* For processes that nobody calls fake_nvml_set in: RL_FAKE_NVML="key=value,key=value". */
__attribute__((constructor)) static void read_environment(void) {
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
static int optional(void) { return fake_nvml_get(kFakeUnsupported) != 0 ? kUnsupported : kSuccess; }
static int set_unsigned(unsigned* out, long long value) {
  *out = (unsigned)value;
  return optional();
}

EXPORT int nvmlInit_v2(void) { return (int)fake_nvml_get(kFakeInitStatus); }
EXPORT int nvmlShutdown(void) { return kSuccess; }
EXPORT const char* nvmlErrorString(int status) {
  return status == 9 ? "Driver Not Loaded" : status == kUnsupported ? "Not Supported" : status == kLost ? "GPU is lost" : "Error";
}
EXPORT int nvmlSystemGetDriverVersion(char* out, unsigned size) {
  snprintf(out, size, "580.65.06");
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
  *out = &devices[index];
  return kSuccess;
}
EXPORT int nvmlDeviceGetHandleByUUID(const char* uuid, Device** out) {
  int index = -1;
  if (sscanf(uuid, "GPU-fake-%d", &index) != 1 || index < 0) return kInvalid;
  return nvmlDeviceGetHandleByIndex_v2((unsigned)index, out);
}
EXPORT int nvmlDeviceGetName(Device* device, char* out, unsigned size) {
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
  snprintf(out, size, "GPU-fake-%d", device->index);
  return kSuccess;
}
EXPORT int nvmlDeviceGetPciInfo_v3(Device* device, Pci* out) {
  memset(out, 0, sizeof *out);
  snprintf(out->text, sizeof out->text, "00000000:%02X:00.0", device->index + 1);
  return optional();
}
EXPORT int nvmlDeviceGetArchitecture(Device* device, unsigned* out) { return (void)device, set_unsigned(out, 9); }
EXPORT int nvmlDeviceGetCudaComputeCapability(Device* device, int* major, int* minor) {
  (void)device;
  *major = 9;
  *minor = 0;
  return optional();
}
EXPORT int nvmlDeviceGetNumGpuCores(Device* device, unsigned* out) { return (void)device, set_unsigned(out, 16896); }
EXPORT int nvmlDeviceGetMemoryInfo(Device* device, Memory* out) {
  (void)device;
  __atomic_add_fetch(&values[kFakeMemoryCalls], 1, __ATOMIC_SEQ_CST);
  out->total = 100000000000ULL;
  out->used = (unsigned long long)fake_nvml_get(kFakeMemoryUsed);
  out->free = out->total - out->used;
  return optional();
}
EXPORT int nvmlDeviceGetClockInfo(Device* device, int type, unsigned* out) {
  return (void)device, set_unsigned(out, type == 1 ? fake_nvml_get(kFakeSmClock) : 3201);
}
EXPORT int nvmlDeviceGetMaxClockInfo(Device* device, int type, unsigned* out) {
  return (void)device, set_unsigned(out, type == 1 ? 1980 : 3201);
}
EXPORT int nvmlDeviceGetTemperature(Device* device, int sensor, unsigned* out) {
  return (void)device, (void)sensor, set_unsigned(out, 41);
}
EXPORT int nvmlDeviceGetPowerUsage(Device* device, unsigned* out) {
  return (void)device, set_unsigned(out, fake_nvml_get(kFakePower));
}
EXPORT int nvmlDeviceGetEnforcedPowerLimit(Device* device, unsigned* out) { return (void)device, set_unsigned(out, 650000); }
EXPORT int nvmlDeviceGetPowerManagementDefaultLimit(Device* device, unsigned* out) {
  return (void)device, set_unsigned(out, 700000);
}
EXPORT int nvmlDeviceGetUtilizationRates(Device* device, Utilization* out) {
  (void)device;
  out->gpu = 87;
  out->memory = 12;
  return optional();
}
EXPORT int nvmlDeviceGetCurrentClocksEventReasons(Device* device, unsigned long long* out) {
  (void)device;
  *out = (unsigned long long)fake_nvml_get(kFakeReasons);
  return optional();
}
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(Device* device, unsigned* count, Process* out) {
  (void)device;
  const unsigned own = fake_nvml_get(kFakeOwnPid) != 0;
  const unsigned other = fake_nvml_get(kFakeOtherPid) != 0;
  const unsigned many = (unsigned)fake_nvml_get(kFakeManyProcesses);
  const unsigned total = own + other + many;
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
  return optional();
}
EXPORT int nvmlDeviceGetViolationStatus(Device* device, int policy, Violation* out) {
  (void)device;
  if (fake_nvml_get(kFakeNoViolationStatus) != 0 || policy > 1) return kUnsupported;
  out->violation = (unsigned long long)fake_nvml_get(policy == 0 ? kFakePowerViolation : kFakeThermalViolation);
  return optional();
}
EXPORT int nvmlDeviceGetFieldValues(Device* device, int count, Field* out) {
  (void)device;
  for (int i = 0; i < count; ++i) {
    out[i].type = 3;
    out[i].status = out[i].field == 74 || out[i].field == 75 ? kSuccess : kUnsupported;
    out[i].value = (unsigned long long)fake_nvml_get(out[i].field == 74 ? kFakePowerViolation : kFakeThermalViolation);
  }
  return optional();
}
EXPORT int nvmlDeviceGetTotalEnergyConsumption(Device* device, unsigned long long* out) {
  (void)device;
  __atomic_add_fetch(&values[kFakeEnergyCalls], 1, __ATOMIC_SEQ_CST);
  *out = (unsigned long long)fake_nvml_get(kFakeEnergy);
  return optional();
}
EXPORT int nvmlDeviceGetMigMode(Device* device, unsigned* current, unsigned* pending) {
  (void)device;
  *current = *pending = 0;
  return optional();
}
EXPORT int nvmlDeviceGetEccMode(Device* device, int* current, int* pending) {
  (void)device;
  *current = *pending = 1;
  return optional();
}
EXPORT int nvmlDeviceGetPersistenceMode(Device* device, int* out) {
  (void)device;
  *out = 1;
  return optional();
}
EXPORT int nvmlDeviceGetAccountingMode(Device* device, int* out) {
  (void)device;
  *out = fake_nvml_get(kFakeAccountingPeak) != 0;
  return optional();
}
EXPORT int nvmlDeviceGetAccountingStats(Device* device, unsigned pid, Accounting* out) {
  (void)device;
  if ((long long)pid != fake_nvml_get(kFakeOwnPid)) return kNotFound;
  memset(out, 0, sizeof *out);
  out->peak = (unsigned long long)fake_nvml_get(kFakeAccountingPeak);
  return optional();
}
