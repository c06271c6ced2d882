// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "host/system_files.hpp"

namespace ridgeline::host {

/// The container or batch job that a process belongs to, from the text of its /proc/PID/cgroup: "docker:0123456789ab",
/// "podman:...", "kubernetes:...", "lxc:web", "slurm:4711"; "" outside of any.
[[nodiscard]] std::string container_of(std::string_view cgroup);

/// Whether this process is inside Docker, Podman, Kubernetes, Apptainer or systemd-nspawn.
[[nodiscard]] bool in_container(const SystemFiles& files);

}  // namespace ridgeline::host
