// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/traces/mutator.hpp"

namespace ridgeline::fuzz {

/// Whole inputs, and what a Mutator makes of them.
class TraceInputs {
 public:
  virtual ~TraceInputs() = default;
  [[nodiscard]] virtual std::size_t seeds() const = 0;
  /// Seed number `seed` as it is.
  virtual void write(std::size_t seed, const std::filesystem::path& path) const = 0;
  virtual void write_damaged(std::size_t seed, Mutator& mutator, const std::filesystem::path& path) const = 0;
};

void write_bytes(const std::filesystem::path& path, std::string_view bytes);

/// JSON and CSV, now and then packed by gzip.
[[nodiscard]] std::unique_ptr<TraceInputs> text_inputs(std::vector<std::string> seeds);
/// Trace files of our own: mostly damaged within their blocks, whose checksums are right.
[[nodiscard]] std::unique_ptr<TraceInputs> block_inputs(std::vector<std::string> seeds);
/// Pickles, damaged opcode by opcode or in their bytes.
[[nodiscard]] std::unique_ptr<TraceInputs> pickle_inputs(std::vector<std::string> seeds);
/// Databases from SQL, damaged in their pages or in the statements that make them. `scratch`: a file of its own.
[[nodiscard]] std::unique_ptr<TraceInputs> sqlite_inputs(std::vector<std::string> seeds,
                                                         const std::filesystem::path& scratch);

}  // namespace ridgeline::fuzz
