// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "execute/transport.hpp"

namespace ridgeline::execute {

/// Jobs on this machine, by whoever answers their kind: see add_worker_jobs, add_training_jobs, add_command_jobs.
class LocalTransport final : public Transport {
 public:
  using Handler = std::function<base::Result<JobAnswer>(const Job&)>;

  /// Answers environment jobs itself.
  LocalTransport();

  /// Jobs of that kind go to `handler`, instead of the one before if there is one.
  void add(std::string_view kind, Handler handler) { handlers_[std::string(kind)] = std::move(handler); }

  [[nodiscard]] std::vector<std::string> capabilities() const override;
  [[nodiscard]] base::Result<JobAnswer> run(const Job& job) override;

 private:
  std::map<std::string, Handler> handlers_;
};

}  // namespace ridgeline::execute
