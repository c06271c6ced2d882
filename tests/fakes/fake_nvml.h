/* SPDX-License-Identifier: Apache-2.0 */
/* What a test may set in the fake management library: fake_nvml_set(key, value), at any time and from any thread.
   fake_nvml_script(name) sets a whole situation at once; programs get it from RL_FAKE_NVML_SCRIPT:
     healthy    busy GPUs whose readings move with time, with GPM, NVLink and everything else
     throttled  the same, throttled by the power limit and by heat
     mig        the same, split in two slices
     lost       the same, until the GPU falls off the bus after 2 s
     slow       the same, each device call taking 20 ms
     eight      the same, eight GPUs
     errors     every device call fails with an unknown error
   Two builds of the library lack functions: rl_fake_nvml_old (a driver of 2019) and rl_fake_nvml_missing (only what
   counts and names GPUs). RL_FAKE_NVML_PROCESSES="gpu:pid:MiB:SM percent:C|G|B,..." lists processes. */
#ifndef RL_TESTS_FAKE_NVML_H
#define RL_TESTS_FAKE_NVML_H

enum FakeNvmlKey {
  kFakeInitStatus,        /* what nvmlInit_v2 returns */
  kFakeDeviceCount,       /* at most 8 */
  kFakeLostDevice,        /* index + 1 of a GPU whose handle cannot be had; 0: none */
  kFakeUnsupported,       /* not 0: every optional reading is "not supported" */
  kFakeMemoryUsed,        /* bytes, of 100e9 */
  kFakeOwnPid,            /* listed with kFakeOwnMemory; 0: not listed */
  kFakeOwnMemory,         /* bytes; -1: not available */
  kFakeOtherPid,          /* listed with 1e9 bytes; 0: not listed */
  kFakeManyProcesses,     /* so many further entries, from pid 100000 on */
  kFakeSmClock,           /* MHz */
  kFakePower,             /* mW */
  kFakeReasons,           /* clock event bits */
  kFakePowerViolation,    /* ns */
  kFakeThermalViolation,  /* ns */
  kFakeNoViolationStatus, /* 1: the call is not supported, the fields are; 2: neither is */
  kFakeEnergy,            /* mJ */
  kFakeAccountingPeak,    /* bytes; 0: accounting is off */
  kFakeMemoryCalls,       /* counts nvmlDeviceGetMemoryInfo */
  kFakeEnergyCalls,       /* counts nvmlDeviceGetTotalEnergyConsumption */
  kFakeDeviceError,       /* status that every call on a device returns; 0: none */
  kFakeFailAfterMs,       /* kFakeDeviceError starts only so long after the library was loaded */
  kFakeFailingDevice,     /* index + 1 of the only GPU that kFakeDeviceError is for; 0: all */
  kFakeSlowUs,            /* how long each call on a device takes */
  kFakeDeviceCalls,       /* counts calls on devices and handles asked for */
  kFakeMoving,            /* not 0: readings move with time, and differ between GPUs */
  kFakeGpm,     /* not 0: GPM is supported; 2: without a number for DRAM, though it says success; 3: for PCIe */
  kFakeNvlinks, /* links present, all but kFakeNvlinksDown active */
  kFakeNvlinksDown,
  kFakeMig,            /* slices; 0: MIG is off */
  kFakePcieGeneration, /* now; 5 at most. 0: 5 */
  kFakePcieWidth,      /* now; 16 at most. 0: 16 */
  kFakeEccUncorrected, /* since the driver was loaded */
  kFakeRemapPending,
  kFakeRemapFailure,
  kFakePersistenceOff,
  kFakeTemperature,       /* 0: 41 C */
  kFakeDefaultPowerLimit, /* mW; 0: 700 W */
  kFakePowerLimit,        /* mW; 0: 650 W */
  kFakeDriver,            /* major version in "<n>.65.06"; 0: 580 */
  kFakeSlowCalls,         /* counts nvmlDeviceGetPcieThroughput */
  kFakeComputeMode,       /* 0: default, 2: prohibited, 3: exclusive_process */
  kFakeGpmCalls,          /* counts nvmlGpmSampleGet */
  kFakeShareCalls,        /* counts nvmlDeviceGetProcessUtilization */
  kFakeSlowdownCalls,     /* counts nvmlDeviceGetFieldValues that ask for slow-down counters */
  kFakePcieBytes,         /* not 0: what both PCIe counters say, which then have 32 bits */
  kFakeKeys
};

#endif
