// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/embedded.hpp"

#include <cstddef>

extern "C" const char rl_echarts_begin[];
extern "C" const char rl_echarts_end[];

namespace ridgeline::app {

std::string_view echarts_js() noexcept {
  return {rl_echarts_begin, static_cast<std::size_t>(rl_echarts_end - rl_echarts_begin)};
}

}  // namespace ridgeline::app
