// SPDX-License-Identifier: Apache-2.0
// Time to read, patch and verify a config file, by its size.
#include <chrono>
#include <string>

#include "config/config_patch.hpp"

int main() {
  using namespace ridgeline;
  for (const int sections : {10, 100, 1000, 10000}) {
    std::string yaml;
    for (int i = 0; i < sections; ++i)
      yaml += fmt::format(
          "service_{}:\n  image: \"registry.example.org/app:{}\"  # pinned\n  ports: [80, {}]\n  env:\n    A: 1\n", i,
          i, i);
    yaml += "onnxruntime:\n  intra_op_num_threads: 8  # cores\n";
    constexpr int kRepeats = 5;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kRepeats; ++i) {
      const auto patched = config::patch_settings(yaml, "config.yaml",
                                                  {{"intra_op_num_threads", 4}, {"execution_mode", "parallel"}}, {});
      if (!patched || patched->edits.size() != 2) {
        fmt::print(stderr, "the patch failed: {}\n", patched ? "no edits" : patched.error().message);
        return 1;
      }
    }
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    fmt::print("{:>9} bytes  {:>9.2f} ms a patch\n", yaml.size(), elapsed.count() / kRepeats);
  }
  return 0;
}
