// SPDX-License-Identifier: Apache-2.0
#include "activity_buffers.hpp"

#include <cstring>
#include <utility>

namespace ridgeline::inject {
namespace {

constexpr std::size_t kAtFirst = 8;
ActivityBuffers* buffers_of_recorder = nullptr;  // made with the recorder, by one thread

}  // namespace

ActivityBuffers::ActivityBuffers() {
  for (std::size_t i = 0; i < kAtFirst; ++i) add();
}

ActivityBuffers& ActivityBuffers::of_process() {
  if (buffers_of_recorder == nullptr) buffers_of_recorder = new ActivityBuffers;
  return *buffers_of_recorder;
}

void ActivityBuffers::after_fork() { buffers_of_recorder = nullptr; }

void ActivityBuffers::add() {
  all_.push_back(std::make_unique_for_overwrite<std::uint8_t[]>(kBytes));
  std::memset(all_.back().get(), 0, kBytes);  // its pages are there before an application thread touches them
  free_.push_back(all_.back().get());
}

std::uint8_t* ActivityBuffers::ask() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) add();  // CUPTI before 12.9 does not bear a refusal
  auto* bytes = free_.back();
  free_.pop_back();
  return bytes;
}

void ActivityBuffers::give_full(Full full) {
  const std::lock_guard lock(mutex_);
  full_.push_back(full);
}

std::vector<ActivityBuffers::Full> ActivityBuffers::take_full() {
  const std::lock_guard lock(mutex_);
  return std::exchange(full_, {});
}

void ActivityBuffers::give_back(std::uint8_t* bytes) {
  const std::lock_guard lock(mutex_);
  free_.push_back(bytes);
}

}  // namespace ridgeline::inject
