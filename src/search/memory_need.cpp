// SPDX-License-Identifier: Apache-2.0
#include "search/memory_need.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace ridgeline::search {
namespace {

using schema::Configuration;

/// How much memory a setting asks for, in a unit of its own; only the order counts.
struct Appetite {
  const char* key;
  double (*of)(const Configuration&);
};

constexpr std::array kAppetites{
    Appetite{"batch_size", [](const Configuration& c) { return c.get_or("batch_size", 1).as_number(); }},
    Appetite{"parallel_sessions", [](const Configuration& c) { return c.get_or("parallel_sessions", 1).as_number(); }},
    Appetite{"concurrent_runs", [](const Configuration& c) { return c.get_or("concurrent_runs", 1).as_number(); }},
    // A tighter limit is reached sooner.
    Appetite{"gpu_mem_limit_gb",
             [](const Configuration& c) {
               return -c.get_or("gpu_mem_limit_gb", std::numeric_limits<double>::infinity()).as_number();
             }},
    Appetite{"enable_cuda_graph",
             [](const Configuration& c) { return c.get_or("enable_cuda_graph", false).as_bool() ? 1.0 : 0.0; }},
};

}  // namespace

bool needs_no_less_memory(const Configuration& a, const Configuration& b) {
  const auto ordered = [](const std::string& key) {
    return std::any_of(kAppetites.begin(), kAppetites.end(), [&](const Appetite& one) { return key == one.key; });
  };
  for (const auto& key : schema::differing_keys(a, b))
    if (!ordered(key)) return false;
  return std::all_of(kAppetites.begin(), kAppetites.end(), [&](const Appetite& one) { return one.of(a) >= one.of(b); });
}

std::string hungrier_setting(const Configuration& a, const Configuration& b) {
  for (const auto& one : kAppetites)
    if (one.of(a) > one.of(b)) return one.key;
  return "";
}

}  // namespace ridgeline::search
