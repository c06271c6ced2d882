// SPDX-License-Identifier: Apache-2.0
// Two recordings of tests/tools/marked_training.py on an H100, by scripts/record_marked_training.sh: two training steps
// by torch.profiler and by Nsight Compute. Marker kernels say on the GPU which module is at work.
#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "trace/analysis/analysed_trace.hpp"
#include "trace/analysis/counter_join.hpp"
#include "trace/import/kineto_import.hpp"
#include "trace/import/ncu_import.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int32_t kLeaves = 15;  // marked modules
constexpr std::size_t kSteps = 2;
constexpr std::size_t kKernels = 306;  // of which 60 are markers
constexpr std::int32_t kForward = 1;   // grid.y of a marker
constexpr std::int32_t kBackward = 2;

class MarkedTraining : public ::testing::Test {
 protected:
  void SetUp() override {
    auto read = import_kineto(std::string(RL_TEST_DATA) + "/traces/marked_kineto.json.gz");
    ASSERT_TRUE(read) << read.error().message;
    trace = std::move(*read);
    ASSERT_EQ(trace.kernels.size(), kKernels);
    order.resize(kKernels);
    std::iota(order.begin(), order.end(), Place{0});
    // One stream; the driver numbers launches in their order.
    std::sort(order.begin(), order.end(), [&](Place one, Place other) {
      return trace.kernels.correlation[one] < trace.kernels.correlation[other];
    });
  }

  [[nodiscard]] std::string name(Place kernel) const {
    return std::string(trace.strings.text(trace.kernels.name[kernel]));
  }
  [[nodiscard]] bool is_marker(Place kernel) const { return name(kernel) == "marker"; }

  Trace trace;
  std::vector<Place> order;  ///< kernels as they were launched
};

/// A kernel, and the number of the module that it works for.
struct Marked {
  Place kernel;
  std::int32_t module;
};

class MarkedModules : public MarkedTraining {
 protected:
  /// Kernels of the backward pass of a marked module: those behind its marker, up to the next marker. Of these, what
  /// the program does between its modules is no module's: autograd's sum of the two gradients of a block's input
  /// (behind conv1, modules 2, 6 and 10), the gradient of the mean (behind the norm, 14), the optimizer (behind the
  /// stem, 1) and whatever follows it.
  [[nodiscard]] std::vector<Marked> backward_kernels() const {
    std::vector<Marked> out;
    std::int32_t module = 0;
    for (const auto kernel : order) {
      const auto grid = trace.kernels.grid[kernel];
      if (is_marker(kernel))
        module = grid.y == kBackward ? grid.x : 0;
      else if (module != 0 && is_between(kernel, module))
        module = 0;
      else if (module != 0)
        out.push_back({kernel, module});
    }
    return out;
  }

  /// Likewise of the forward pass: those before its marker, behind the marker of the module before it; without the sum
  /// at the end of a block (before modules 6, 10 and 14), the mean (before 14), and what is before the stem.
  [[nodiscard]] std::vector<Marked> forward_kernels() const {
    std::vector<Marked> out;
    std::vector<Place> since;
    std::int32_t before = 0;
    for (const auto kernel : order) {
      const auto grid = trace.kernels.grid[kernel];
      if (!is_marker(kernel)) {
        since.push_back(kernel);
        continue;
      }
      if (grid.y == kForward && before == grid.x - 1 && grid.x > 1)
        for (const auto one : since)
          if (!is_sum_of_floats(one) && name(one).find("MeanOps<float") == std::string::npos)
            out.push_back({one, grid.x});
      before = grid.y == kForward ? grid.x : 0;
      since.clear();
    }
    return out;
  }

  [[nodiscard]] bool is_sum_of_floats(Place kernel) const {
    return name(kernel).find("vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>") !=
           std::string::npos;
  }
  [[nodiscard]] bool is_between(Place kernel, std::int32_t module) const {
    switch (module) {
      case 2:
      case 6:
      case 10: return is_sum_of_floats(kernel);
      case 14: return name(kernel).find("binary_internal::MulFunctor<float>") != std::string::npos;
      case 1: return name(kernel).find("multi_tensor_apply_kernel") != std::string::npos;
      default: return false;
    }
  }
};

/// The profiler counts modules of a class from 0, in the order in which they run first.
bool is_in(const AnalysedTrace& analysed, const Marked& marked) {
  const auto path = "/" + path_of(analysed.attribution, analysed.kernels.row[marked.kernel]) + "/";
  return path.find("/Marked_" + std::to_string(marked.module - 1) + "/") != std::string::npos;
}

TEST_F(MarkedModules, markers_are_as_the_program_launches_them) {
  std::vector<std::pair<std::int32_t, std::int32_t>> step;
  for (std::int32_t i = 1; i <= kLeaves; ++i) step.emplace_back(i, kForward);
  for (std::int32_t i = kLeaves; i >= 1; --i) step.emplace_back(i, kBackward);
  std::vector<std::pair<std::int32_t, std::int32_t>> found;
  for (const auto kernel : order)
    if (is_marker(kernel)) found.emplace_back(trace.kernels.grid[kernel].x, trace.kernels.grid[kernel].y);
  auto both = step;
  both.insert(both.end(), step.begin(), step.end());
  EXPECT_EQ(found, both);
}

TEST_F(MarkedModules, the_backward_pass_is_in_the_module_of_its_forward) {
  const auto marked = backward_kernels();
  // A step's: 4 of the linear layer, 2 of the norm, 10 of each of the 6 convolutions in blocks, 1 of each of the 6
  // normalizations and activations there, 5 of the stem (without its memset).
  ASSERT_EQ(marked.size(), kSteps * (4 + 2 + 60 + 6 + 5));
  const AnalysedTrace analysed(trace);
  std::int64_t all = 0;
  std::int64_t right = 0;
  std::set<std::int32_t> modules;
  for (const auto& one : marked) {
    const auto took = trace.kernels.duration_ns[one.kernel];
    const bool is_right = is_in(analysed, one) && analysed.is_backward(analysed.kernels.call[one.kernel]);
    all += took;
    right += is_right ? took : 0;
    modules.insert(one.module);
    EXPECT_TRUE(is_right) << name(one.kernel) << " of module " << one.module << " is in "
                          << path_of(analysed.attribution, analysed.kernels.row[one.kernel]);
  }
  EXPECT_EQ(modules.size(), static_cast<std::size_t>(kLeaves));
  EXPECT_GE(all, 900'000) << "most of the 1.46 ms of the two steps";
  EXPECT_GE(static_cast<double>(right), 0.99 * static_cast<double>(all));
  RecordProperty("backward_kernels", static_cast<int>(marked.size()));
  RecordProperty("backward_ns", std::to_string(all));
  RecordProperty("backward_ns_in_place", std::to_string(right));
}

TEST_F(MarkedModules, the_forward_pass_is_in_its_module) {
  const auto marked = forward_kernels();
  // A step's: 3 of each of the 6 convolutions in blocks, 2 of each of the 3 normalizations there, 1 of each of the 3
  // activations, 1 of the norm and 1 of the linear layer.
  ASSERT_EQ(marked.size(), kSteps * (18 + 6 + 3 + 1 + 1));
  const AnalysedTrace analysed(trace);
  for (const auto& one : marked) {
    EXPECT_TRUE(is_in(analysed, one)) << name(one.kernel) << " of module " << one.module;
    EXPECT_FALSE(analysed.is_backward(analysed.kernels.call[one.kernel])) << name(one.kernel);
  }
}

TEST_F(MarkedModules, markers_are_in_their_modules) {
  const AnalysedTrace analysed(trace);
  for (const auto kernel : order) {
    if (!is_marker(kernel)) continue;
    EXPECT_TRUE(is_in(analysed, {kernel, trace.kernels.grid[kernel].x})) << trace.kernels.grid[kernel].x;
  }
}

/// The function alone, which every profiler prints alike: "nchwToNhwcKernel" of "void
/// cudnn::...::nchwToNhwcKernel<...".
std::string function_of(std::string_view name) {
  for (const std::string_view unnamed : {"(anonymous namespace)::", "<unnamed>::"})
    if (const auto at = name.find(unnamed); at != std::string_view::npos && at < name.find_first_of("<(", at + 1))
      name.remove_prefix(at + unnamed.size());
  name = name.substr(0, name.find_first_of("<("));
  const auto at = name.find_last_of(": ");
  return std::string(at == std::string_view::npos ? name : name.substr(at + 1));
}

TEST_F(MarkedTraining, counters_are_joined_with_their_launches) {
  const auto counters = import_ncu(std::string(RL_TEST_DATA) + "/traces/marked_ncu.csv.gz");
  ASSERT_TRUE(counters) << counters.error().message;
  ASSERT_EQ(counters->size(), kKernels);
  // The program launches the same in both recordings: the rows of one are the kernels of the other, in their order.
  for (std::size_t k = 0; k < kKernels; ++k) {
    ASSERT_EQ(counters->grid[k], trace.kernels.grid[order[k]]) << k;
    ASSERT_EQ(counters->block[k], trace.kernels.block[order[k]]) << k;
    ASSERT_EQ(function_of(counters->strings.text(counters->name[k])), function_of(name(order[k]))) << k;
  }
  const auto join = join_counters(trace, *counters);
  std::size_t right = 0;
  for (std::size_t k = 0; k < kKernels; ++k) right += join.row[order[k]] == k ? 1U : 0U;
  EXPECT_GE(right * 100, kKernels * 99) << right << " of " << kKernels << " rows";
  EXPECT_EQ(join.matched, kKernels);
  EXPECT_EQ(fakes::texts_of(join.only_counters), std::vector<std::string>());
  EXPECT_EQ(fakes::texts_of(join.only_trace), std::vector<std::string>());
  RecordProperty("rows_joined", static_cast<int>(right));
}

}  // namespace
}  // namespace ridgeline::trace
