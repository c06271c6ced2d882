// SPDX-License-Identifier: Apache-2.0
#include "schema/candidate.hpp"

#include <algorithm>

namespace ridgeline::schema {

std::string Candidate::name() const { return id.empty() ? provider + "@" + runtime.version : id; }

std::string candidate_of(const Configuration& configuration) {
  const auto* id = configuration.find(std::string(kCandidateKey));
  return id == nullptr ? std::string() : id->to_text();
}

Configuration without_candidate(const Configuration& configuration) {
  return configuration.without(std::string(kCandidateKey));
}

const Candidate* find_candidate(const std::vector<Candidate>& candidates, std::string_view id) {
  const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const auto& one) { return one.id == id; });
  return found == candidates.end() ? nullptr : &*found;
}

RL_DEFINE_JSON(CodeRun, command, median_s, problem, current_median_s)
RL_DEFINE_JSON(LoadingCode, install, python, cpp, python_run, cpp_run)
RL_DEFINE_JSON(Candidate, id, engine, runtime, provider, plugin, device, packages, source, workload)

}  // namespace ridgeline::schema
