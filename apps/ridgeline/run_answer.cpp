// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/run_answer.hpp"

#include "ridgeline/words.hpp"

namespace ridgeline::app {

std::string answer_text(const schema::RunSummary& run) {
  if (!run.finished) return "not finished";
  return run.line.answer.empty() ? "no recommendation" : words().text(run.line.answer);
}

}  // namespace ridgeline::app
