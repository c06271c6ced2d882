// SPDX-License-Identifier: Apache-2.0
#include "host/container.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ridgeline::host {
namespace {

constexpr std::size_t kShortId = 12;  // as docker ps shows it

bool is_hex(char letter) { return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f'); }

/// The first run of 64 hexadecimal digits: the identity that every runtime of the Open Container Initiative gives.
std::string long_id(std::string_view text) {
  std::size_t run = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    run = is_hex(text[i]) ? run + 1 : 0;
    if (run == 64) return std::string(text.substr(i - 63, kShortId));
  }
  return "";
}

std::string word_after(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return "";
  const auto rest = text.substr(at + mark.size());
  return std::string(rest.substr(0, rest.find_first_of("/\n.")));
}

}  // namespace

std::string container_of(std::string_view cgroup) {
  const auto has = [&](std::string_view part) { return cgroup.find(part) != std::string_view::npos; };
  if (const auto job = word_after(cgroup, "/job_"); !job.empty() && has("slurm")) return "slurm:" + job;
  if (const auto id = long_id(cgroup); !id.empty()) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kRuntimes{{{"kubepods", "kubernetes"},
                                                                                      {"libpod", "podman"},
                                                                                      {"docker", "docker"},
                                                                                      {"crio", "crio"},
                                                                                      {"containerd", "containerd"},
                                                                                      {"buildkit", "buildkit"}}};
    const auto* const found =
        std::find_if(kRuntimes.begin(), kRuntimes.end(), [&](const auto& runtime) { return has(runtime.first); });
    return (found != kRuntimes.end() ? std::string(found->second) : "container") + ":" + id;
  }
  for (const auto* mark : {"/lxc.payload.", "/lxc/"})
    if (const auto name = word_after(cgroup, mark); !name.empty()) return "lxc:" + name;
  if (const auto name = word_after(cgroup, "/machine-"); !name.empty()) return "machine:" + name;
  return "";
}

bool in_container(const SystemFiles& files) {
  std::error_code error;
  for (const auto* path : {".dockerenv", "run/.containerenv", ".singularity.d", "run/systemd/container"})
    if (std::filesystem::exists(files.root() / path, error)) return true;
  const auto groups = files.text("proc/1/cgroup").value_or("");
  for (const auto* mark : {"docker", "kubepods", "containerd", "libpod", "lxc"})
    if (groups.find(mark) != std::string::npos) return true;
  return files.text("proc/1/environ").value_or("").find("container=") != std::string::npos;
}

}  // namespace ridgeline::host
