// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "activity_buffers.hpp"
#include "launch_counters.hpp"
#include "tracefile/event_log.hpp"

namespace ridgeline::inject {

/// What the records so far have of work that matters to counting.
struct SeenWork {
  bool collectives = false;  ///< of NCCL and the like
  bool overlaps = false;     ///< kernels of several streams ran at once
  bool graphs = false;       ///< CUDA graphs were launched
};

/// What CUPTI records of this process's GPU work. Records differ by CUDA's major version, so each has its own, compiled
/// with the headers of that.
class GpuRecords {
 public:
  virtual ~GpuRecords() = default;
  /// Opens CUPTI and says where records go. `devices`: they are to be described, which CUPTI does as CUDA starts.
  /// Whether it can record; why() says why not.
  [[nodiscard]] virtual bool start(ActivityBuffers& buffers, bool devices) = 0;
  virtual void switch_on() = 0;
  virtual void switch_off() = 0;
  /// Watches graphs being captured and the profiler's API being called, or no longer. CUPTI has one subscriber, and a
  /// profiler in the program is not to be kept from being it.
  virtual void watch_captures(bool on) = 0;
  /// Everything, as the process ends.
  virtual void flush() = 0;
  /// Ends what CUPTI does for it. It can be started no more.
  virtual void stop() = 0;
  /// All records of a buffer, as events of the log; on the thread of the log. Those that begin at `until_ns` or later
  /// are left out.
  virtual void read(const ActivityBuffers::Full& full, std::int64_t until_ns) = 0;

  /// What counts bytes, with the same CUPTI; it must not outlive this.
  [[nodiscard]] virtual std::unique_ptr<LaunchCounters> make_counters(LaunchPlaces& places) = 0;
  [[nodiscard]] virtual SeenWork seen() const = 0;

  [[nodiscard]] virtual bool started() const = 0;
  [[nodiscard]] virtual std::string why() const = 0;
  [[nodiscard]] virtual std::uint32_t cupti_version() const = 0;  ///< 0: none was found
  [[nodiscard]] virtual std::uint64_t kernels() const = 0;
  [[nodiscard]] virtual std::uint64_t copies() const = 0;  ///< and sets of memory
  /// Records whose times CUPTI could not say, which are left out.
  [[nodiscard]] virtual std::uint64_t zero_time() const = 0;
  [[nodiscard]] virtual std::uint64_t dropped() const = 0;
  /// UUIDs of the GPUs by the numbers that this process has for them.
  [[nodiscard]] virtual const std::map<std::int32_t, std::string>& devices() const = 0;
};

/// What a GpuRecords asks of the recorder, from threads of the program.
class CaptureListener {
 public:
  virtual ~CaptureListener() = default;
  virtual void node_created(std::uint64_t node) = 0;
  virtual void node_cloned(std::uint64_t original, std::uint64_t copy) = 0;
  /// A stream is captured from now on, or one no longer.
  virtual void stream_captured(bool begins) = 0;
  /// The program called cuProfilerStart, or cuProfilerStop.
  virtual void profiler_called(bool starts) = 0;
};

namespace cupti12 {
[[nodiscard]] std::unique_ptr<GpuRecords> make_records(trace::EventLog& log, std::int64_t process,
                                                       CaptureListener& listener);
}
namespace cupti13 {
[[nodiscard]] std::unique_ptr<GpuRecords> make_records(trace::EventLog& log, std::int64_t process,
                                                       CaptureListener& listener);
}
/// Of the CUDA that the process uses; nullptr: `cuda_major` is none of these.
[[nodiscard]] std::unique_ptr<GpuRecords> make_records(int cuda_major, trace::EventLog& log, std::int64_t process,
                                                       CaptureListener& listener);

}  // namespace ridgeline::inject
