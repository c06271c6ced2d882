// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include <cupti.h>

#include "cupti_library.hpp"
#include "gpu_records.hpp"
#include "stream_overlap.hpp"
#include "tracefile/event_log.hpp"

namespace ridgeline::inject::RL_CUPTI {

/// What this release's CUPTI writes; older ones of the same major version write its first fields.
#if CUDART_VERSION >= 13000
using KernelRecord = CUpti_ActivityKernel10;
#else
using KernelRecord = CUpti_ActivityKernel9;
#endif

/// CUPTI's records as events of a trace file.
class ActivityReader {
 public:
  ActivityReader(const CuptiLibrary& cupti, trace::EventLog& log, std::int64_t process)
      : cupti_(cupti), log_(log), process_(process) {}

  /// All records of a buffer that begin before `until_ns`.
  void read(std::uint8_t* bytes, std::size_t valid, std::int64_t until_ns);

  [[nodiscard]] std::uint64_t kernels() const noexcept { return kernels_; }
  [[nodiscard]] std::uint64_t copies() const noexcept { return copies_; }
  /// Records whose times CUPTI could not say, which are left out.
  [[nodiscard]] std::uint64_t zero_time() const noexcept { return zero_time_; }
  /// From any thread.
  [[nodiscard]] SeenWork seen() const noexcept { return {collectives_, overlaps_, graphs_}; }
  /// Of the GPUs that were seen, by their numbers.
  [[nodiscard]] const std::map<std::int32_t, std::string>& uuids() const noexcept { return uuids_; }

 private:
  void add(const KernelRecord& kernel);
  template <typename Memory>
  void add_memory(trace::MemoryWork& table, const Memory& work, std::string_view name);
  void add(const CUpti_ActivitySynchronization2& sync);
  void add(const CUpti_ActivityAPI& call, CUpti_CallbackDomain domain);
  void add(const CUpti_ActivityDevice5& device);
  /// And is to be kept.
  [[nodiscard]] bool has_time(std::uint64_t start, std::uint64_t end);
  [[nodiscard]] trace::NameId kernel_name(const char* mangled);
  [[nodiscard]] trace::NameId call_name(CUpti_CallbackDomain domain, CUpti_CallbackId id);

  const CuptiLibrary& cupti_;
  trace::EventLog& log_;
  const std::int64_t process_;
  std::unordered_map<std::string, trace::NameId> kernel_names_;  ///< by their mangled names
  std::unordered_map<std::uint64_t, trace::NameId> call_names_;
  std::unordered_map<std::uint32_t, std::int32_t> devices_;  ///< of contexts
  std::set<std::uint32_t> seen_devices_;
  StreamOverlap overlap_;
  std::atomic<bool> collectives_ = false;
  std::atomic<bool> overlaps_ = false;
  std::atomic<bool> graphs_ = false;
  std::map<std::int32_t, std::string> uuids_;
  std::uint64_t until_ns_ = 0;
  std::uint64_t kernels_ = 0;
  std::uint64_t copies_ = 0;
  std::uint64_t zero_time_ = 0;
};

}  // namespace ridgeline::inject::RL_CUPTI
