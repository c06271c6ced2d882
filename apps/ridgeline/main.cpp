// SPDX-License-Identifier: Apache-2.0
#include "base/cancel.hpp"
#include "ridgeline/program.hpp"

int main(int argc, char** argv) {
  ridgeline::base::install_cancel_signals();
  return ridgeline::app::run_program(argc, argv);
}
