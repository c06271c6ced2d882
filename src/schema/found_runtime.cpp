// SPDX-License-Identifier: Apache-2.0
#include "schema/found_runtime.hpp"

#include <fmt/ranges.h>

#include "schema/message_renderer.hpp"
#include "schema/messages.hpp"

namespace ridgeline::schema {

std::string FoundRuntime::name() const {
  if (!packages.empty()) return fmt::format("{}", fmt::join(packages, " and "));
  return version.empty() ? "ONNX Runtime" : "ONNX Runtime " + version;
}

std::string FoundRuntime::title() const { return fmt::format("{} at {}", name(), library_path); }

Message FoundRuntime::conflict() const {
  if (packages.size() < 2) return {};
  std::vector<std::string> names;
  for (const auto& package : packages) names.push_back(package.substr(0, package.find(' ')));
  return messages::packages_overwrote({.packages = packages, .library = library_path, .names = names});
}

base::Error RuntimeSearch::none_usable(const std::vector<Message>& reasons) const {
  const auto table = messages::table();
  const MessageRenderer words(std::span(&table, 1));
  return {base::ErrorCode::not_found,
          fmt::format("no ONNX Runtime library found; looked in: {}{}{}", fmt::join(words.texts(looked_in), "; "),
                      reasons.empty() ? "" : "; ", fmt::join(words.texts(reasons), "; ")),
          "run scripts/fetch_onnxruntime.sh or give --ort-library FILE"};
}

RL_DEFINE_JSON(RuntimeRequest, library, runtimes, plugins, python)
RL_DEFINE_JSON(FoundRuntime, library_path, place, version, named, pinned, packages, plugins, problem)
RL_DEFINE_JSON(RuntimeSearch, runtimes, looked_in)

}  // namespace ridgeline::schema
