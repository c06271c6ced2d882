// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/input_values.hpp"

namespace ridgeline::schema {

/// Concrete dimensions of one model input.
struct InputShape {
  std::string name;
  std::vector<std::int64_t> dims;
  friend bool operator==(const InputShape&, const InputShape&) = default;
};
RL_DECLARE_JSON(InputShape)

/// Shapes of all inputs of one inference. A workload with several sets is a shape mix: inferences cycle through them.
using ShapeSet = std::vector<InputShape>;

/// An input read from a .npy file instead of being generated.
struct InputFile {
  std::string name;
  std::string path;
  std::string sha256;
  friend bool operator==(const InputFile&, const InputFile&) = default;
};
RL_DECLARE_JSON(InputFile)

/// What is timed, independent of any setting.
struct WorkloadRef {
  std::string kind;              ///< "onnx" or "synthetic": a name in the workload registry
  std::string location;          ///< model path, or the text after "synthetic:"
  std::string content_sha256;    ///< of the model and its external data; of the text for synthetic
  std::vector<ShapeSet> shapes;  ///< fully concrete; one entry a member of the mix; batch is applied on top of it
  std::vector<InputFile> input_files;
  std::uint64_t seed = 1;                                     ///< of generated inputs
  std::map<std::string, std::vector<std::string>> dim_names;  ///< by input: the model's symbolic dimensions, "" where
                                                              ///< fixed; inputs without any are absent. No identity
  std::vector<GivenValue> given_values{};                     ///< the user's --input NAME=VALUE. No identity
  std::vector<std::vector<InputValues>> input_values{};  ///< of generated inputs, an entry for each of `shapes`; inputs
                                                         ///< without one are drawn by their type
};
RL_DECLARE_JSON(WorkloadRef)

}  // namespace ridgeline::schema
