// SPDX-License-Identifier: Apache-2.0
#include "trace/import/event_batches.hpp"

#include <utility>

namespace ridgeline::trace {

EventBatches::~EventBatches() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  changed_.notify_all();
}

EventBatches::Batch EventBatches::read() {
  RL_TRY_ASSIGN(const auto batch, events_.next());
  if (!batch) return std::optional<std::string>();
  std::string text;
  text.reserve(batch->size() + JsonEvents::padding());
  return std::optional(std::move(text.append(*batch)));
}

void EventBatches::read_ahead() {
  for (bool more = true; more;) {
    auto batch = read();
    more = batch && *batch;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_ || stop_; });
    if (stop_) return;
    ready_.emplace(std::move(batch));
    changed_.notify_all();
  }
}

base::Result<std::optional<std::string_view>> EventBatches::next() {
  if (!thread_.joinable()) {
    current_ = read();
    if (!current_) return tl::unexpected<base::Error>(current_.error());
    if (!*current_) return std::optional<std::string_view>();
    if (events_.may_have_more()) thread_ = std::jthread([this] { read_ahead(); });
    return std::optional<std::string_view>(**current_);
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ready_.has_value(); });
  current_ = std::move(*ready_);
  if (!current_) return tl::unexpected<base::Error>(current_.error());
  if (!*current_) return std::optional<std::string_view>();  // and stays ready, for whoever asks again
  ready_.reset();
  changed_.notify_all();
  return std::optional<std::string_view>(**current_);
}

}  // namespace ridgeline::trace
