// SPDX-License-Identifier: Apache-2.0
#include "monitor/process_view.hpp"

#include <algorithm>
#include <cctype>

namespace ridgeline::monitor {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

bool matches(const ProcessReading& process, const std::string& filter) {
  if (filter.empty()) return true;
  for (const auto& text : {std::to_string(process.pid), process.user, process.container, process.name, process.command})
    if (lower(text).find(filter) != std::string::npos) return true;
  return false;
}

/// Below 0, 0 or above 0. An unknown number is the smallest.
int compare(const ProcessReading& a, const ProcessReading& b, SortKey key) {
  const auto numbers = [](double x, double y) { return x < y ? -1 : x > y ? 1 : 0; };
  switch (key) {
    case SortKey::gpu_memory: return numbers(a.gpu_memory_bytes.value_or(-1), b.gpu_memory_bytes.value_or(-1));
    case SortKey::sm: return numbers(a.sm_percent.value_or(-1), b.sm_percent.value_or(-1));
    case SortKey::cpu: return numbers(a.cpu_percent.value_or(-1), b.cpu_percent.value_or(-1));
    case SortKey::host_memory: return numbers(a.host_memory_bytes.value_or(-1), b.host_memory_bytes.value_or(-1));
    case SortKey::user: return a.user.compare(b.user);
    case SortKey::gpu: return a.gpu - b.gpu;
    case SortKey::name: return a.name.compare(b.name);
    case SortKey::pid:
    case SortKey::count: break;
  }
  return numbers(static_cast<double>(a.pid), static_cast<double>(b.pid));
}

}  // namespace

std::vector<const ProcessReading*> ordered(const std::vector<ProcessReading>& processes, const ProcessOrder& order) {
  std::vector<const ProcessReading*> rows;
  const auto filter = lower(order.filter);
  for (const auto& process : processes)
    if ((!order.gpu || process.gpu == *order.gpu) && matches(process, filter)) rows.push_back(&process);
  std::sort(rows.begin(), rows.end(), [&](const ProcessReading* a, const ProcessReading* b) {
    const int by_key = compare(*a, *b, order.key);
    if (by_key != 0) return order.descending ? by_key > 0 : by_key < 0;
    return a->pid != b->pid ? a->pid < b->pid : a->gpu < b->gpu;
  });
  return rows;
}

}  // namespace ridgeline::monitor
