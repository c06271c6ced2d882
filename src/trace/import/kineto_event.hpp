// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "trace/import/json_values.hpp"
#include "tracefile/events.hpp"

namespace ridgeline::trace {

/// What an event of the PyTorch profiler is of, by its "cat".
enum class KinetoCategory {
  other,    ///< nothing that is read
  ignored,  ///< says again what others say: flows, annotations by the GPU's time
  kernel,
  copy,
  set,
  call,
  sync,
  operation,
  annotation,
  python,
  overhead,
  counters,
  instant
};

inline constexpr std::array<std::pair<std::string_view, KinetoCategory>, 18> kKinetoCategories{
    {{"kernel", KinetoCategory::kernel},
     {"cpu_op", KinetoCategory::operation},
     {"python_function", KinetoCategory::python},
     {"cuda_runtime", KinetoCategory::call},
     {"cuda_driver", KinetoCategory::call},
     {"gpu_memcpy", KinetoCategory::copy},
     {"gpu_memset", KinetoCategory::set},
     {"cuda_sync", KinetoCategory::sync},
     {"user_annotation", KinetoCategory::annotation},
     {"overhead", KinetoCategory::overhead},
     {"cuda_profiler_range", KinetoCategory::counters},
     {"cpu_instant_event", KinetoCategory::instant},
     {"Kernel", KinetoCategory::kernel},  // before 2022
     {"gpu_user_annotation", KinetoCategory::ignored},
     {"ac2g", KinetoCategory::ignored},
     {"async_cpu_to_gpu", KinetoCategory::ignored},
     {"fwdbwd", KinetoCategory::ignored},
     {"Trace", KinetoCategory::ignored}}};

[[nodiscard]] inline KinetoCategory kineto_category(std::string_view name) {
  for (const auto& [text, category] : kKinetoCategories)
    if (text == name) return category;
  return KinetoCategory::other;
}

/// An event with those of its arguments that are read. Texts are valid while it is read.
struct KinetoEvent : ChromeEvent {
  std::int64_t correlation = 0;
  std::optional<std::int64_t> device;
  std::int64_t gpu_process = 0;  // only write_chrome_json tells it
  std::int64_t context = 0;
  std::optional<std::int64_t> stream;
  std::int64_t bytes = -1;
  Dim3 grid;
  Dim3 block;
  std::int64_t registers = 0;
  std::int64_t shared_bytes = 0;
  std::int64_t graph_node = 0;
  std::int64_t sequence = -1;
  std::int64_t forward_thread = 0;
  std::string_view input_shapes;  // "Input Dims", as it stands there
  Allocation memory;
  std::int64_t free_bytes = 0;
  std::string_view place;  // only write_chrome_json tells it, and the bytes that were free
  std::optional<std::int64_t> device_id;
  std::int64_t device_type = 0;
};

/// Of an array; 0 where it has fewer numbers, or is none.
inline Dim3 kineto_extent(simdjson::ondemand::value& value) {
  Dim3 out;
  simdjson::ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return out;
  std::int32_t* const places[] = {&out.x, &out.y, &out.z};
  std::size_t at = 0;
  for (auto element : array) {
    std::int64_t number = 0;
    if (element.get_int64().get(number) != simdjson::SUCCESS || at >= 3) break;
    *places[at++] = static_cast<std::int32_t>(number);
  }
  return out;
}

/// The text of an array; "" of anything else.
inline std::string_view kineto_shapes(simdjson::ondemand::value& value) {
  std::string_view text;
  simdjson::ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS || array.raw_json().get(text) != simdjson::SUCCESS) return {};
  return text;
}

/// Takes an argument of an event that is one of those; most of a file's bytes pass through here.
[[gnu::always_inline]] inline void read_kineto_argument(std::string_view key, simdjson::ondemand::value& value,
                                                        KinetoEvent& event) {
  const auto into = [&](std::int64_t& place) {
    if (const auto number = whole(value)) place = *number;
  };
  if (key == "correlation")
    into(event.correlation);
  else if (key == "device")
    event.device = whole(value);
  else if (key == "process")
    into(event.gpu_process);
  else if (key == "context")
    into(event.context);
  else if (key == "stream")
    event.stream = whole(value);
  else if (key == "bytes")
    into(event.bytes);
  else if (key == "grid")
    event.grid = kineto_extent(value);
  else if (key == "block")
    event.block = kineto_extent(value);
  else if (key == "registers per thread")
    into(event.registers);
  else if (key == "shared memory")
    into(event.shared_bytes);
  else if (key == "graph node id")
    into(event.graph_node);
  else if (key == "Sequence number")
    into(event.sequence);
  else if (key == "Fwd thread id")
    into(event.forward_thread);
  else if (key == "Input Dims")
    event.input_shapes = kineto_shapes(value);
  else if (key == "Bytes")
    into(event.memory.bytes);
  else if (key == "Addr")
    into(event.memory.address);
  else if (key == "Total Allocated")
    into(event.memory.allocated_bytes);
  else if (key == "Total Reserved")
    into(event.memory.reserved_bytes);
  else if (key == "Device Id")
    event.device_id = whole(value);
  else if (key == "Device Type")
    into(event.device_type);
  else if (key == "Free")
    into(event.free_bytes);
  else if (key == "Place")
    read_text(value, event.place);
}

}  // namespace ridgeline::trace
