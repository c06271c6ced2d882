// SPDX-License-Identifier: Apache-2.0
#include "schema/found_runtime.hpp"

#include <fmt/ranges.h>

namespace ridgeline::schema {

std::string FoundRuntime::title() const {
  auto name = packages.empty() ? std::string("ONNX Runtime") : fmt::format("{}", fmt::join(packages, " and "));
  if (packages.empty() && !version.empty()) name += " " + version;
  return fmt::format("{} at {}", name, library_path);
}

std::string FoundRuntime::conflict() const {
  if (packages.size() < 2) return {};
  std::vector<std::string> names;
  for (const auto& package : packages) names.push_back(package.substr(0, package.find(' ')));
  return fmt::format(
      "{} overwrote each other's files around {}; keep one: pip uninstall -y {}, then pip install the one you want",
      fmt::join(packages, " and "), library_path, fmt::join(names, " "));
}

base::Error RuntimeSearch::none_usable(const std::vector<std::string>& reasons) const {
  return {base::ErrorCode::not_found,
          fmt::format("no ONNX Runtime library found; looked in: {}{}{}", looked_in, reasons.empty() ? "" : "; ",
                      fmt::join(reasons, "; ")),
          "run scripts/fetch_onnxruntime.sh or give --ort-library FILE"};
}

RL_DEFINE_JSON(RuntimeRequest, library, runtimes, plugins, python)
RL_DEFINE_JSON(FoundRuntime, library_path, place, version, named, pinned, packages, plugins, problem, hint)
RL_DEFINE_JSON(RuntimeSearch, runtimes, looked_in)

}  // namespace ridgeline::schema
