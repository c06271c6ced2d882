// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The part of NVML that is used, declared here so that its header is not needed to build. Names and layouts as in
/// nvml.h; the library keeps them stable by versioned symbols.
namespace ridgeline::gpu::nvml {

using Status = int;
using Device = struct OpaqueDevice*;

inline constexpr Status kSuccess = 0;
inline constexpr Status kInvalidArgument = 2;
inline constexpr Status kNotSupported = 3;
inline constexpr Status kNoPermission = 4;
inline constexpr Status kDriverNotLoaded = 9;
inline constexpr Status kNotFound = 6;
inline constexpr Status kInsufficientSize = 7;
inline constexpr Status kFunctionNotFound = 13;
inline constexpr Status kGpuLost = 15;
inline constexpr Status kResetRequired = 16;
inline constexpr Status kUnknownError = 999;

inline constexpr unsigned long long kUnknownBytes = ~0ULL;  ///< NVML_VALUE_NOT_AVAILABLE

enum ClockType : int { kSmClock = 1, kMemoryClock = 2 };

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;  ///< everything that is not free, the driver's reserve included
};

struct Utilization {
  unsigned gpu;
  unsigned memory;
};

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct ViolationTime {
  unsigned long long reference_time;
  unsigned long long violation_time;  ///< ns since the driver was loaded
};

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char bus_id[32];
};

struct AccountingStats {
  unsigned gpu_utilization;
  unsigned memory_utilization;
  unsigned long long max_memory_usage;
  unsigned long long time;
  unsigned long long start_time;
  unsigned is_running;
  unsigned reserved[5];
};

enum ValueType : unsigned { kUnsignedInt = 1, kUnsignedLong = 2, kUnsignedLongLong = 3, kSignedLongLong = 4 };

struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp_us;
  long long latency_us;
  unsigned type;  ///< ValueType
  Status status;
  union {
    double real;
    unsigned unsigned_int;
    unsigned long unsigned_long;
    unsigned long long unsigned_long_long;
    long long signed_long_long;
  } value;
};

struct ProcessUtilization {
  unsigned pid;
  unsigned long long timestamp_us;
  unsigned sm;  ///< percent, as are the others
  unsigned memory;
  unsigned encoder;
  unsigned decoder;
};

using GpmSample = struct OpaqueGpmSample*;

struct GpmSupport {
  unsigned version;  ///< 1
  unsigned supported;
};

struct GpmMetric {
  unsigned id;
  Status status;
  double value;
  const char* names[3];
};

/// nvml.h sizes the list by its newest metric; the library reads no more than `count` of them.
struct GpmMetrics {
  unsigned version;  ///< 1
  unsigned count;
  GpmSample before;
  GpmSample after;
  GpmMetric metrics[400];
};

/// nullptr: this library has no such function.
struct Functions {
  Status (*init)() = nullptr;
  Status (*shutdown)() = nullptr;
  const char* (*error_string)(Status) = nullptr;
  Status (*driver_version)(char*, unsigned) = nullptr;
  Status (*cuda_driver_version)(int*) = nullptr;
  Status (*device_count)(unsigned*) = nullptr;
  Status (*device_by_index)(unsigned, Device*) = nullptr;
  Status (*device_by_uuid)(const char*, Device*) = nullptr;
  Status (*name)(Device, char*, unsigned) = nullptr;
  Status (*uuid)(Device, char*, unsigned) = nullptr;
  Status (*pci_info)(Device, PciInfo*) = nullptr;
  Status (*architecture)(Device, unsigned*) = nullptr;
  Status (*compute_capability)(Device, int*, int*) = nullptr;
  Status (*core_count)(Device, unsigned*) = nullptr;
  Status (*memory_info)(Device, Memory*) = nullptr;
  Status (*clock)(Device, int, unsigned*) = nullptr;
  Status (*max_clock)(Device, int, unsigned*) = nullptr;
  Status (*temperature)(Device, int, unsigned*) = nullptr;
  Status (*power_usage)(Device, unsigned*) = nullptr;
  Status (*power_limit)(Device, unsigned*) = nullptr;
  Status (*default_power_limit)(Device, unsigned*) = nullptr;
  Status (*utilization)(Device, Utilization*) = nullptr;
  Status (*clock_reasons)(Device, unsigned long long*) = nullptr;
  Status (*compute_processes)(Device, unsigned*, ProcessInfo*) = nullptr;
  Status (*violation_status)(Device, int, ViolationTime*) = nullptr;
  Status (*field_values)(Device, int, FieldValue*) = nullptr;
  Status (*total_energy)(Device, unsigned long long*) = nullptr;
  Status (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;
  Status (*ecc_mode)(Device, int*, int*) = nullptr;
  Status (*persistence_mode)(Device, int*) = nullptr;
  Status (*accounting_mode)(Device, int*) = nullptr;
  Status (*accounting_stats)(Device, unsigned, AccountingStats*) = nullptr;
  // What a monitor reads beyond that.
  Status (*device_by_pci)(const char*, Device*) = nullptr;
  Status (*memory_bus_width)(Device, unsigned*) = nullptr;
  Status (*performance_state)(Device, int*) = nullptr;
  Status (*fan_speed)(Device, unsigned*) = nullptr;
  Status (*temperature_threshold)(Device, int, unsigned*) = nullptr;
  Status (*encoder_utilization)(Device, unsigned*, unsigned*) = nullptr;
  Status (*decoder_utilization)(Device, unsigned*, unsigned*) = nullptr;
  Status (*pcie_generation)(Device, unsigned*) = nullptr;
  Status (*pcie_width)(Device, unsigned*) = nullptr;
  Status (*max_pcie_generation)(Device, unsigned*) = nullptr;
  Status (*max_pcie_width)(Device, unsigned*) = nullptr;
  Status (*pcie_throughput)(Device, int, unsigned*) = nullptr;
  Status (*nvlink_state)(Device, unsigned, int*) = nullptr;
  Status (*graphics_processes)(Device, unsigned*, ProcessInfo*) = nullptr;
  Status (*process_utilization)(Device, ProcessUtilization*, unsigned*, unsigned long long) = nullptr;
  Status (*max_mig_devices)(Device, unsigned*) = nullptr;
  Status (*mig_device)(Device, unsigned, Device*) = nullptr;
  Status (*gpu_instance_id)(Device, unsigned*) = nullptr;
  Status (*gpm_support)(Device, GpmSupport*) = nullptr;
  Status (*gpm_sample_alloc)(GpmSample*) = nullptr;
  Status (*gpm_sample_free)(GpmSample) = nullptr;
  Status (*gpm_sample_get)(Device, GpmSample) = nullptr;
  Status (*gpm_mig_sample_get)(Device, unsigned, GpmSample) = nullptr;
  Status (*gpm_metrics_get)(GpmMetrics*) = nullptr;
};

}  // namespace ridgeline::gpu::nvml
