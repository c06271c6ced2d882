// SPDX-License-Identifier: Apache-2.0
#include "workload/stream_model.hpp"

namespace ridgeline::workload {
namespace {

class NullModel final : public StreamModel {
 public:
  [[nodiscard]] base::Result<stream::BatchTimes> run(std::uint32_t, std::span<const stream::BatchFrame>, std::uint32_t,
                                                     std::span<std::string> results) override {
    for (auto& result : results) result = "null";
    return stream::BatchTimes{};
  }
  [[nodiscard]] const StreamModelFacts& facts() const noexcept override { return facts_; }

 private:
  StreamModelFacts facts_{"none", "none", "none", false, {}};
};

}  // namespace

std::unique_ptr<StreamModel> make_null_stream_model() { return std::make_unique<NullModel>(); }

}  // namespace ridgeline::workload
