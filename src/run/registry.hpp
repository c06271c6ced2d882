// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/kind.hpp"

namespace ridgeline::run {

/// The kinds of runs that this program knows.
class Registry {
 public:
  void add(std::unique_ptr<Kind> kind) { kinds_.push_back(std::move(kind)); }
  /// nullptr: unknown.
  [[nodiscard]] const Kind* find(std::string_view name) const noexcept;
  /// Errors: unsupported (a kind of a newer version).
  [[nodiscard]] base::Result<const Kind*> of(const schema::Run& run) const;
  [[nodiscard]] const std::vector<std::unique_ptr<Kind>>& kinds() const noexcept { return kinds_; }

  /// B against A. Errors: those of Kind::compare, and invalid_argument for runs of different kinds.
  [[nodiscard]] base::Result<RunComparison> compare(const TrialName& a, const TrialName& b, store::Store& store,
                                                    std::optional<double> min_effect) const;

  /// What a run changes in the file. Errors: those of Kind::change; invalid_argument too where the file holds settings
  /// of another kind and none of this one's, which names the run whose settings they are.
  [[nodiscard]] base::Result<Change> change(const schema::Run& run, std::string_view text, const Target& target,
                                            store::Store& store) const;

 private:
  std::vector<std::unique_ptr<Kind>> kinds_;
};

/// The trial that "RUN" or "RUN/TRIAL" means; RUN as Store::load_run has it. Errors: not_found (no such run or trial).
[[nodiscard]] base::Result<TrialName> find_trial(store::Store& store, const std::string& reference);

}  // namespace ridgeline::run
