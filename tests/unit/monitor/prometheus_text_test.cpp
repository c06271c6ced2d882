// SPDX-License-Identifier: Apache-2.0
#include "monitor/prometheus_text.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "fakes/machine_snapshot.hpp"

namespace ridgeline::monitor {
namespace {

Snapshot full_machine() {
  auto snapshot = fakes::busy_machine();
  snapshot.gpus.push_back(fakes::busy_gpu(1));
  snapshot.gpus[0].slowdown_reasons = {"sw_power_cap"};
  snapshot.gpus[0].slices = {{"MIG 3g", "MIG-1", 1e9, 2e9, 50.0, 20.0, 10.0}};
  snapshot.gpus[1].state = GpuState::lost;
  snapshot.processes[0].user = "a\"b\\c\nd";
  return snapshot;
}

TEST(PrometheusText, uses_base_units) {
  const auto text = prometheus_text(full_machine());
  for (const auto* line :
       {"ridgeline_gpu_power_watts{gpu=\"0\",uuid=\"GPU-fake-0\"} 482.25\n",
        "ridgeline_gpu_tensor_active_ratio{gpu=\"0\",uuid=\"GPU-fake-0\"} 0.55",
        "ridgeline_gpu_memory_used_bytes{gpu=\"0\",uuid=\"GPU-fake-0\"} 64424509440\n",
        "ridgeline_gpu_sm_clock_hertz{gpu=\"0\",uuid=\"GPU-fake-0\"} 1935000000\n",
        "# TYPE ridgeline_gpu_energy_joules_total counter\n",
        "ridgeline_gpu_slowdown_seconds_total{gpu=\"0\",uuid=\"GPU-fake-0\",cause=\"sw_power_cap\"} 100\n",
        "ridgeline_gpu_slowdown_active{gpu=\"0\",uuid=\"GPU-fake-0\",cause=\"sw_power_cap\"} 1\n",
        "ridgeline_gpu_state{gpu=\"1\",uuid=\"GPU-fake-1\",state=\"lost\"} 1\n", "user=\"a\\\"b\\\\c d\"",
        "ridgeline_host_cpu_ratio 0.34"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST(PrometheusText, gives_every_family_one_help_and_type) {
  std::set<std::string> families;
  for (const auto& line : base::split(prometheus_text(full_machine()), '\n')) {
    if (line.rfind("# TYPE ", 0) != 0) continue;
    EXPECT_TRUE(families.insert(base::split(line, ' ')[2]).second) << line;
  }
  EXPECT_GT(families.size(), 30U);
}

TEST(PrometheusText, leaves_out_what_is_not_known) {
  Snapshot snapshot;
  snapshot.gpus.emplace_back();
  const auto text = prometheus_text(snapshot);
  EXPECT_EQ(text.find("power"), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_NE(text.find("ridgeline_monitor_gpus 1\n"), std::string::npos);
}

TEST(PrometheusText, satisfies_promtool) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "promtool (Debian package prometheus) is not here";
  const auto file = std::filesystem::temp_directory_path() / fmt::format("rl_metrics_{}", ::getpid());
  std::ofstream(file) << prometheus_text(full_machine());
  EXPECT_EQ(std::system(fmt::format("promtool check metrics < {}", file.string()).c_str()), 0);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace ridgeline::monitor
