// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "execute/supervisor.hpp"

int main(int argc, char** argv) {
  ridgeline::base::install_cancel_signals();
  return ridgeline::execute::supervise(std::vector<std::string>(argv + 1, argv + argc));
}
