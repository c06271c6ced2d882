// SPDX-License-Identifier: Apache-2.0
#include "trace/import/event_batches.hpp"

#include <utility>

namespace ridgeline::trace {

EventBatches::EventBatches(JsonEvents& events) : events_(events), thread_([this] { read_ahead(); }) {}

EventBatches::~EventBatches() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  changed_.notify_all();
}

void EventBatches::read_ahead() {
  for (bool more = true; more;) {
    Batch batch = std::optional<std::string>();
    auto read = events_.next();
    if (!read) {
      batch = tl::unexpected<base::Error>(std::move(read).error());
      more = false;
    } else if (*read) {
      std::string text;
      text.reserve((*read)->size() + JsonEvents::padding());
      batch = std::optional(std::move(text.append(**read)));
    } else {
      more = false;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_ || stop_; });
    if (stop_) return;
    ready_.emplace(std::move(batch));
    changed_.notify_all();
  }
}

base::Result<std::optional<std::string_view>> EventBatches::next() {
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
