// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "execute/calls.hpp"
#include "schema/environment.hpp"
#include "schema/found_runtime.hpp"

namespace ridgeline::execute {

/// Of a plug-in: the package that it came with, or its file.
[[nodiscard]] std::string plugin_title(const schema::PluginLibrary& plugin);

/// A runtime to run on, and which of its providers.
struct ChosenRuntime {
  schema::RuntimeIdentity runtime;
  std::string provider;                            ///< ExecutionProvider::id
  std::optional<schema::ProviderPlugin> plugin{};  ///< where the runtime does not carry it
  std::size_t index = 0;                           ///< in FoundRuntimes::all
  std::vector<schema::Message> notes;              ///< what was passed over, what else there is
};

/// The runtimes of a machine. Each is asked in a process of its own when its answer matters, so that one that crashes
/// or hangs is a reason and no more. The executor must outlive it.
class FoundRuntimes {
 public:
  /// `time_left`: of the run, asked before each question; what has no answer by then is an Error of code out_of_time.
  [[nodiscard]] static base::Result<FoundRuntimes> find(Executor& executor, std::string kind,
                                                        schema::RuntimeRequest where,
                                                        std::function<TimeLeft()> time_left = {});

  [[nodiscard]] const std::vector<schema::FoundRuntime>& all() const noexcept { return search_.runtimes; }

  /// What it is, and why it cannot be used: an Error that says where it was named, if it was. Asked once.
  [[nodiscard]] const base::Result<schema::RuntimeIdentity>& ask(std::size_t index);
  /// The same with RuntimeIdentity::plugins: each plug-in is registered in a process of its own. One that ends that
  /// process has that as its note.
  [[nodiscard]] const base::Result<schema::RuntimeIdentity>& ask_with_plugins(std::size_t index);

  /// Why that one cannot be used, with its file, once it was asked; empty: it can.
  [[nodiscard]] schema::Message reason(std::size_t index) const;

  /// For a provider: the first runtime that offers it. For "" and "auto": where a GPU is there the first that can use
  /// it, else the CPU provider of the first that loads. Only those that matter are asked, and all that the user named.
  /// Where one is pinned, no other than named ones are taken. Errors: unavailable (also a runtime that the user named
  /// and that cannot be used), not_found (there is none), out_of_time.
  [[nodiscard]] base::Result<ChosenRuntime> choose(const std::string& provider, const schema::Environment& environment);

  /// Asks that runtime with its plug-ins if the user named any. Errors: unavailable, when one of those offers nothing.
  [[nodiscard]] base::Result<void> check_named_plugins(std::size_t index);

 private:
  FoundRuntimes(Executor& executor, std::string kind, schema::RuntimeRequest where, schema::RuntimeSearch search,
                std::function<TimeLeft()> time_left)
      : executor_(&executor),
        time_left_(std::move(time_left)),
        kind_(std::move(kind)),
        where_(std::move(where)),
        search_(std::move(search)),
        answers_(search_.runtimes.size()) {}
  [[nodiscard]] base::Result<std::string> usable_provider(std::size_t index, const std::string& provider,
                                                          const schema::Environment& environment);
  [[nodiscard]] std::vector<schema::Message> others(const ChosenRuntime& chosen,
                                                    const schema::Environment& environment) const;

  struct Answer {
    std::optional<base::Result<schema::RuntimeIdentity>> identity;
    bool plugins_asked = false;
  };
  Executor* executor_;
  std::function<TimeLeft()> time_left_;
  std::string kind_;
  schema::RuntimeRequest where_;
  schema::RuntimeSearch search_;
  std::vector<Answer> answers_;
};

}  // namespace ridgeline::execute
