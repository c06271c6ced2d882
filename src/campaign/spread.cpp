// SPDX-License-Identifier: Apache-2.0
#include "campaign/spread.hpp"

namespace ridgeline::campaign {

base::Result<std::vector<std::size_t>> Spread::slots(std::size_t open, std::size_t ahead) {
  if (found_) return found_->slots;
  const std::size_t check = available_ + 1;  // trials, at the least
  if (available_ < 2 || open < 2 || open + ahead < 3 * check) return std::vector<std::size_t>{0};
  RL_TRY_ASSIGN(found_, check_interference(check_()));
  return found_->slots;
}

}  // namespace ridgeline::campaign
