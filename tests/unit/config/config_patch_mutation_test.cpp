// SPDX-License-Identifier: Apache-2.0
// A small fuzzer that always runs: damaged configuration files, the same ones every time.
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "fakes/yaml_config_generator.hpp"
#include "fuzz/config_patch_properties.hpp"

namespace ridgeline::config {
namespace {

constexpr int kMutations = 1500;

std::string mutated(std::string text, base::Random& random) {
  static const std::vector<std::string> pieces{"&a ",
                                               "*a",
                                               "<<: *a",
                                               "!!int ",
                                               "!x ",
                                               "{",
                                               "}",
                                               "[",
                                               "]",
                                               ",",
                                               ": ",
                                               "- ",
                                               "? ",
                                               "|\n",
                                               ">-\n",
                                               "\"",
                                               "'",
                                               "#",
                                               " # ",
                                               "\t",
                                               "\n",
                                               "\r\n",
                                               "\r",
                                               "---\n",
                                               "...\n",
                                               "%YAML 1.1\n",
                                               "\xEF\xBB\xBF",
                                               "\xC2\x85",
                                               "\xE2\x80\xA8",
                                               "é",
                                               "🚀",
                                               "\x01",
                                               "\xFF",
                                               "intra_op_num_threads: 8\n",
                                               "execution_mode: ",
                                               "intra_op_num_threads",
                                               "onnxruntime:\n",
                                               "onnxruntime: ",
                                               "  ",
                                               "~",
                                               "\\"};
  const auto count = 1 + random.below(5);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto at = random.below(text.size() + 1);
    const auto length = std::min<std::uint64_t>(random.below(12), text.size() - at);
    switch (random.below(5)) {
      case 0: text.erase(at, length); break;
      case 1: text.insert(at, text.substr(at, length)); break;
      case 2: text.resize(at); break;
      default: text.insert(at, pieces[random.below(pieces.size())]); break;
    }
  }
  return text;
}

TEST(ConfigPatchMutation, no_bytes_break_the_patcher) {
  base::Random random(20261121);
  for (int i = 0; i < kMutations; ++i) {
    const auto text = mutated(fakes::generate_yaml_config(random.below(500)).text, random);
    ASSERT_EQ(fuzz::broken_property(text), "") << "mutation " << i << ":\n" << text;
  }
}

}  // namespace
}  // namespace ridgeline::config
