// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "execute/worker_connection.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::execute {

/// The idle worker processes of a slot, by what they are for and by the runtime that they have loaded: a process that
/// has loaded one is never given another, as two of them share symbols and were seen to crash.
class WorkerPool {
 public:
  enum class Role {
    trials,
    pairs,  ///< has run nothing but pairs
    apart,  ///< of TrialRequest::apart
  };
  using Slot = std::unique_ptr<WorkerConnection>;
  /// Of trials, one of another role; the least recently used one ends first.
  static constexpr std::size_t kMostRuntimes = 3;

  /// What a worker of that spec's trials has loaded.
  [[nodiscard]] static std::string runtime_of(const schema::TrialSpec& spec);

  /// The worker of that role which has loaded `runtime`, or nothing yet; nullopt: what it has loaded is no question.
  /// Null where there is none. Valid until the next call.
  [[nodiscard]] Slot& find(Role role, const std::optional<std::string>& runtime);
  /// Whether there is one that find() would give.
  [[nodiscard]] bool has(Role role, const std::string& runtime) const;
  /// Ends those that have been on a GPU, except `kept`.
  void leave_gpu(const Slot* kept);
  [[nodiscard]] bool on_gpu() const;

 private:
  struct Entry {
    Role role;
    std::optional<std::string> runtime;
    Slot worker;
  };
  std::list<Entry> entries_;  ///< the one that was used last in front
};

}  // namespace ridgeline::execute
