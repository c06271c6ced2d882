// SPDX-License-Identifier: Apache-2.0
#include "host/container.hpp"

#include <gtest/gtest.h>

namespace ridgeline::host {
namespace {

TEST(ContainerOf, knows_the_runtimes) {
  const std::string id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  EXPECT_EQ(container_of("12:memory:/docker/" + id + "\n0::/\n"), "docker:0123456789ab");
  EXPECT_EQ(container_of("0::/machine.slice/libpod-" + id + ".scope/container\n"), "podman:0123456789ab");
  EXPECT_EQ(container_of("0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-" + id + ".scope"),
            "kubernetes:0123456789ab");
  EXPECT_EQ(container_of("0::/system.slice/containerd.service/default-" + id), "containerd:0123456789ab");
  EXPECT_EQ(container_of("0::/odd/" + id), "container:0123456789ab");
  EXPECT_EQ(container_of("0::/lxc.payload.web1/init.scope"), "lxc:web1");
  EXPECT_EQ(container_of("0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0"), "slurm:4711");
  EXPECT_EQ(container_of("0::/user.slice/user-1000.slice/session-3.scope"), "");
  EXPECT_EQ(container_of(""), "");
}

}  // namespace
}  // namespace ridgeline::host
