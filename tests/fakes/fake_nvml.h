/* SPDX-License-Identifier: Apache-2.0 */
/* What a test may set in the fake management library: fake_nvml_set(key, value), at any time and from any thread. */
#ifndef RL_TESTS_FAKE_NVML_H
#define RL_TESTS_FAKE_NVML_H

enum FakeNvmlKey {
  kFakeInitStatus,         /* what nvmlInit_v2 returns */
  kFakeDeviceCount,        /* at most 8 */
  kFakeLostDevice,         /* index + 1 of a GPU whose handle cannot be had; 0: none */
  kFakeUnsupported,        /* not 0: every optional reading is "not supported" */
  kFakeMemoryUsed,         /* bytes, of 100e9 */
  kFakeOwnPid,             /* listed with kFakeOwnMemory; 0: not listed */
  kFakeOwnMemory,          /* bytes; -1: not available */
  kFakeOtherPid,           /* listed with 1e9 bytes; 0: not listed */
  kFakeManyProcesses,      /* so many further entries, from pid 100000 on */
  kFakeSmClock,            /* MHz */
  kFakePower,              /* mW */
  kFakeReasons,            /* clock event bits */
  kFakePowerViolation,     /* ns */
  kFakeThermalViolation,   /* ns */
  kFakeNoViolationStatus,  /* not 0: the call is not supported, the fields are */
  kFakeEnergy,             /* mJ */
  kFakeAccountingPeak,     /* bytes; 0: accounting is off */
  kFakeMemoryCalls,        /* counts nvmlDeviceGetMemoryInfo */
  kFakeEnergyCalls,        /* counts nvmlDeviceGetTotalEnergyConsumption */
  kFakeKeys
};

#endif
