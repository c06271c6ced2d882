// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "search/search_space.hpp"

namespace ridgeline::campaign {

/// What a run searches: a space for each of its candidates (schema::Candidate), that of the current one first. Its
/// configurations carry their candidate.
class CandidateSpaces {
 public:
  /// `id`: Candidate::id, "" for the current one.
  void add(const std::string& id, search::SearchSpace space) { spaces_[id] = std::move(space); }
  /// Of the current candidate; empty until it is added.
  [[nodiscard]] const search::SearchSpace& current() const { return of(""); }

  /// As SearchSpace has them. A candidate that there is not allows nothing.
  [[nodiscard]] bool allows(const schema::Configuration& configuration) const;
  [[nodiscard]] schema::Configuration canonical(const schema::Configuration& configuration) const;
  /// Whether it is some candidate with nothing set but the fixed keys.
  [[nodiscard]] bool is_defaults(const schema::Configuration& configuration) const;

 private:
  [[nodiscard]] const search::SearchSpace& of(const std::string& id) const;

  std::map<std::string, search::SearchSpace> spaces_;
};

}  // namespace ridgeline::campaign
