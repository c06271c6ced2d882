// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/text.hpp"
#include "workload/workload_registry.hpp"

namespace ridgeline::fakes {

/// A stage that counts frames and misbehaves from one of them on: "crash:20" (SIGABRT), "exit:20", "hang:20",
/// "fail:20", "fail_once:20", "full:20" (what it writes has no room); "slow:5" takes so many milliseconds a batch,
/// "memory:4" has none for larger batches, "fixed:4" takes no larger ones. As the location of a model of kind "faulty".
class FaultyStreamModel final : public workload::StreamModel {
 public:
  explicit FaultyStreamModel(const std::string& location) {
    const auto parts = base::split(location, ':');
    how_ = parts[0];
    if (parts.size() > 1) at_ = std::stoull(parts[1]);
  }

  base::Result<stream::BatchTimes> run(std::uint32_t, std::span<const stream::BatchFrame> frames,
                                       std::uint32_t executed_size, std::span<std::string> results) override {
    if (how_ == "memory" && executed_size > at_)
      return base::fail(base::ErrorCode::out_of_memory, "no room for {} frames", executed_size);
    const auto before = frames_.fetch_add(frames.size());
    const bool now = before + frames.size() > at_;
    if (how_ == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(at_));
    if (now && how_ == "crash") std::abort();
    if (now && how_ == "exit") ::_exit(3);
    while (now && how_ == "hang") std::this_thread::sleep_for(std::chrono::seconds(1));
    if (now && (how_ == "fail" || (how_ == "fail_once" && before <= at_)))
      return base::fail(base::ErrorCode::internal, "the model failed \"here\"");
    if (now && how_ == "full") return base::fail(base::ErrorCode::io, "cannot write x.npy: no space left on device");
    for (auto& result : results) result = R"({"mean":1})";
    return stream::BatchTimes{1000, 2000, 3000};
  }
  const workload::StreamModelFacts& facts() const noexcept override { return facts_; }

  static workload::WorkloadKind kind() {
    workload::WorkloadKind kind;
    kind.name = "faulty";
    kind.stream_model =
        [](const workload::StreamModelRequest& request) -> base::Result<std::unique_ptr<workload::StreamModel>> {
      if (request.spec.model.workload.location == "refuse")
        return base::fail(base::ErrorCode::invalid_argument, "no such model").hint("name another");
      auto model = std::make_unique<FaultyStreamModel>(request.spec.model.workload.location);
      const auto most = static_cast<std::int64_t>(model->at_);
      if (model->how_ == "fixed" && request.spec.settings.batch_size > most) {
        *request.fixed_batch = most;
        return base::fail(base::ErrorCode::invalid_argument, "the batch is fixed at {}", most);
      }
      return model;
    };
    return kind;
  }

 private:
  workload::StreamModelFacts facts_{"faulty 1", "any", "none", false, {}};
  std::string how_;
  std::uint64_t at_ = 0;
  std::atomic<std::uint64_t> frames_{0};
};

}  // namespace ridgeline::fakes
