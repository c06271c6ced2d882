// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "trace/import/json_events.hpp"

namespace ridgeline::trace {

/// Batches of a JsonEvents that a thread of its own reads ahead, so that reading and parsing overlap. A file of one
/// batch needs no thread.
class EventBatches {
 public:
  /// `events` must outlive the object, and is not to be used meanwhile.
  explicit EventBatches(JsonEvents& events) : events_(events) {}
  ~EventBatches();
  EventBatches(const EventBatches&) = delete;
  EventBatches& operator=(const EventBatches&) = delete;

  /// As JsonEvents::next.
  [[nodiscard]] base::Result<std::optional<std::string_view>> next();

 private:
  /// With padding behind it.
  using Batch = base::Result<std::optional<std::string>>;
  [[nodiscard]] Batch read();
  void read_ahead();

  JsonEvents& events_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Batch> ready_;
  bool stop_ = false;
  Batch current_ = std::optional<std::string>();
  std::jthread thread_;  ///< from the second batch on; last: uses the rest
};

}  // namespace ridgeline::trace
