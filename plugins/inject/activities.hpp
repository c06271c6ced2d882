// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "activity_buffers.hpp"
#include "activity_reader.hpp"
#include "cupti_library.hpp"
#include "gpu_records.hpp"
#include "subscription.hpp"

namespace ridgeline::inject::RL_CUPTI {

class Activities final : public GpuRecords, private SubscriberClient {
 public:
  Activities(trace::EventLog& log, std::int64_t process, CaptureListener& listener)
      : reader_(cupti_, log, process), listener_(listener) {}

  [[nodiscard]] bool start(ActivityBuffers& buffers, bool devices) override;
  void switch_on() override;
  void switch_off() override;
  void watch_captures(bool on) override;
  void flush() override;
  void stop() override;
  void read(const ActivityBuffers::Full& full, std::int64_t until_ns) override {
    reader_.read(full.bytes, full.valid, until_ns);
  }

  [[nodiscard]] std::unique_ptr<LaunchCounters> make_counters(LaunchPlaces& places) override;
  [[nodiscard]] SeenWork seen() const override { return reader_.seen(); }

  [[nodiscard]] bool started() const override { return started_; }
  [[nodiscard]] std::string why() const override { return why_; }
  [[nodiscard]] std::uint32_t cupti_version() const override { return cupti_.version(); }
  [[nodiscard]] std::uint64_t kernels() const override { return reader_.kernels(); }
  [[nodiscard]] std::uint64_t copies() const override { return reader_.copies(); }
  [[nodiscard]] std::uint64_t zero_time() const override { return reader_.zero_time(); }
  [[nodiscard]] std::uint64_t dropped() const override;
  [[nodiscard]] const std::map<std::int32_t, std::string>& devices() const override { return reader_.uuids(); }

 private:
  void called(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) override;
  void profiler_called(CUpti_CallbackId id, const CUpti_CallbackData& call);
  void capture_called(CUpti_CallbackId id, const CUpti_CallbackData& call);
  [[nodiscard]] bool check(CUptiResult result, const char* doing);
  void record_calls();

  CuptiLibrary cupti_;
  ActivityReader reader_;
  CaptureListener& listener_;
  Subscription subscription_{cupti_};
  bool started_ = false;
  bool on_ = false;
  std::uint64_t dropped_before_ = 0;
  std::string why_;
};

}  // namespace ridgeline::inject::RL_CUPTI
