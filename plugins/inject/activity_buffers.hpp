// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace ridgeline::inject {

/// Memory that CUPTI fills with records. Application threads ask for it, so that it is there before they do.
class ActivityBuffers {
 public:
  static constexpr std::size_t kBytes = 4 << 20;

  struct Full {
    std::uint8_t* bytes = nullptr;
    std::size_t valid = 0;
  };

  ActivityBuffers();
  /// Never destroyed: CUPTI keeps some from one recording to the next.
  [[nodiscard]] static ActivityBuffers& of_process();
  /// In a child, which has a CUPTI of its own.
  static void after_fork();

  /// One to be filled.
  [[nodiscard]] std::uint8_t* ask();
  void give_full(Full full);
  [[nodiscard]] std::vector<Full> take_full();
  /// It has been read.
  void give_back(std::uint8_t* bytes);

 private:
  void add();

  std::mutex mutex_;
  std::vector<std::unique_ptr<std::uint8_t[]>> all_;
  std::vector<std::uint8_t*> free_;
  std::vector<Full> full_;
};

}  // namespace ridgeline::inject
