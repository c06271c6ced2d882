// SPDX-License-Identifier: Apache-2.0
#include "doctor/gather/gpu_load.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "gpu/nvml_device.hpp"
#include "gpu/nvml_live.hpp"
#include "schema/messages.hpp"

namespace ridgeline::doctor {
namespace {

constexpr auto kEvery = std::chrono::milliseconds(5);  // a probe of the load lasts 20 to 60 ms

template <typename T>
void raise(std::optional<T>& highest, const std::optional<T>& value) {
  if (value) highest = std::max(highest.value_or(*value), *value);
}

}  // namespace

std::function<LoadReading()> nvml_load_reader(const std::string& uuid, const std::vector<std::string>& nvml) {
  const auto api = gpu::NvmlApi::load(nvml);
  if (!api) return [] { return LoadReading{}; };
  const auto handle = (*api)->device_by_uuid(uuid);
  if (!handle) return [] { return LoadReading{}; };
  return [device = gpu::NvmlDevice(*api, *handle), live = gpu::NvmlLive(*api, *handle)] {
    const auto link = live.pcie_link();
    return LoadReading{device.clock_mhz(gpu::nvml::kSmClock),
                       device.power_w(),
                       device.temperature_c(),
                       device.clock_reasons(),
                       link.generation,
                       link.width};
  };
}

void add_reading(const LoadReading& reading, LoadFacts& facts) {
  raise(facts.sm_clock_mhz, reading.sm_clock_mhz);
  raise(facts.power_w, reading.power_w);
  raise(facts.temperature_c, reading.temperature_c);
  raise(facts.pcie_generation, reading.pcie_generation);
  raise(facts.pcie_width, reading.pcie_width);
  facts.clock_reasons |= reading.clock_reasons.value_or(0);
}

LoadFacts watch_gpu_load(execute::Executor& executor, const std::string& kind, const std::string& library,
                         const std::function<LoadReading()>& read) {
  LoadFacts facts;
  std::atomic<bool> done{false};
  // The worker dies with the thread that started it, so that thread is the caller's and the reading goes to another.
  std::jthread reader([&] {
    while (!done.load()) {
      add_reading(read(), facts);
      std::this_thread::sleep_for(kEvery);
    }
  });
  const auto reached = execute::gpu_ceilings(executor, kind, library);
  done.store(true);
  reader.join();
  if (reached)
    facts.reached = *reached;
  else
    facts.error = schema::messages::foreign(base::error_line(reached.error()));
  return facts;
}

}  // namespace ridgeline::doctor
