// SPDX-License-Identifier: Apache-2.0
#include "host/nvidia_driver.hpp"

#include "base/text.hpp"

namespace ridgeline::host {

std::string nvidia_module_version(const SystemFiles& files) {
  // Open kernel modules have the first as well.
  if (const auto version = files.text("sys/module/nvidia/version")) return *version;
  const auto text = files.text("proc/driver/nvidia/version").value_or("");
  for (const auto& word : base::split(text.substr(0, text.find('\n')), ' '))
    if (word.size() >= 5 && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  return "";
}

std::optional<bool> nvidia_counters_admin_only(const SystemFiles& files) {
  const auto value = files.field("proc/driver/nvidia/params", "RmProfilingAdminOnly");
  return value ? std::optional(*value != "0") : std::nullopt;
}

}  // namespace ridgeline::host
