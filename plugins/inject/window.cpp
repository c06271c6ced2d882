// SPDX-License-Identifier: Apache-2.0
#include "window.hpp"

#include <algorithm>

namespace ridgeline::inject {
namespace {

constexpr double kNsPerS = 1e9;

/// A program may make its first call long after its start, and the duration counts from when there is something.
std::int64_t opening(const Options& options, std::int64_t now_ns) {
  const auto delay_ns = static_cast<std::int64_t>(options.delay_s * kNsPerS);
  return std::max(now_ns, (options.start_ns > 0 ? options.start_ns : now_ns) + delay_ns);
}

}  // namespace

Window::Window(const Options& options, std::int64_t now_ns)
    : options_(options), opens_ns_(opening(options, now_ns)), waited_(opens_ns_ <= now_ns) {
  look();
}

bool Window::at_time(std::int64_t now_ns) {
  waited_ = now_ns >= opens_ns_;
  if (options_.duration_s > 0 && static_cast<double>(now_ns - opens_ns_) / kNsPerS >= options_.duration_s)
    return close();
  return look();
}

bool Window::at_step() {
  ++steps_;
  if (options_.steps > 0 && steps_ >= options_.warmup_steps + options_.steps) return close();
  return look();
}

bool Window::at_range(bool begins) {
  in_range_ += begins ? 1 : -1;
  return look();
}

bool Window::at_profiler(bool starts) {
  profiling_ = starts;
  return look();
}

std::int64_t Window::recorded_steps() const noexcept {
  const auto passed = steps_ - options_.warmup_steps;
  const auto most = options_.steps > 0 ? options_.steps : passed;
  return std::clamp<std::int64_t>(passed, 0, std::max<std::int64_t>(0, most));
}

bool Window::close() {
  over_ = true;
  return open_.exchange(false);
}

bool Window::look() {
  if (is_over()) return false;
  const bool by_steps = options_.warmup_steps == 0 && options_.steps == 0 ? true : steps_ >= options_.warmup_steps;
  const bool open =
      waited_ && by_steps && (!options_.profiler_api || profiling_) && (options_.range.empty() || in_range_ > 0);
  return open_.exchange(open) != open;
}

}  // namespace ridgeline::inject
