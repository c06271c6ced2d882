// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/candidate_spaces.hpp"

#include "schema/candidate.hpp"

namespace ridgeline::campaign {

const search::SearchSpace& CandidateSpaces::of(const std::string& id) const {
  static const search::SearchSpace none;
  const auto found = spaces_.find(id);
  return found == spaces_.end() ? none : found->second;
}

bool CandidateSpaces::allows(const schema::Configuration& configuration) const {
  const auto id = schema::candidate_of(configuration);
  return spaces_.count(id) != 0 && of(id).allows(schema::without_candidate(configuration));
}

schema::Configuration CandidateSpaces::canonical(const schema::Configuration& configuration) const {
  const auto id = schema::candidate_of(configuration);
  auto out = of(id).canonical(schema::without_candidate(configuration));
  if (!id.empty()) out.set(std::string(schema::kCandidateKey), id);
  return out;
}

bool CandidateSpaces::is_defaults(const schema::Configuration& configuration) const {
  return schema::without_candidate(configuration) == of(schema::candidate_of(configuration)).defaults();
}

}  // namespace ridgeline::campaign
