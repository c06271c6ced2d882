// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "fakes/tiny_onnx.hpp"
#include "unit/workload/temp_folder.hpp"
#include "workload/onnx/ort_library.hpp"
#include "workload/onnx/ort_workload.hpp"

namespace ridgeline::workload {

/// The search as the program does it, with the release that the build's headers belong to as ONNXRUNTIME_ROOT.
inline OrtSearchEnvironment test_search() {
  auto search = OrtSearchEnvironment::of_this_process();
  if (search.ort_root.empty() && search.ort_library.empty()) search.ort_root = RL_TEST_ORT_ROOT;
  return search;
}

/// Real library, models built on the spot.
class OrtTest : public ::testing::Test {
 protected:
  /// ThreadSanitizer starts a thread of its own beside the first one, which would count as the runtime's.
  OrtTest() {
    std::thread([] {}).join();
  }
  schema::TrialSpec spec(const fakes::TinyOnnx& model, schema::Configuration configuration = {}) {
    schema::TrialSpec spec;
    spec.workload.kind = "onnx";
    spec.workload.location = model.write(folder_ / "model.onnx");
    spec.configuration = std::move(configuration);
    return spec;
  }
  /// One thread, so that a test does not start one a core.
  static schema::Configuration one_thread() { return {{"intra_op_num_threads", 1}}; }
  static std::unique_ptr<Workload> workload(schema::TrialSpec spec) {
    return make_ort_workload(std::move(spec), test_search());
  }
  static base::Error failure(schema::TrialSpec spec) {
    const auto made = workload(std::move(spec));
    auto prepared = made->prepare();
    if (!prepared) return prepared.error();
    if (!made->step(0)) return made->last_error(0);
    ADD_FAILURE() << "the workload ran";
    return {};
  }

  TempFolder folder_;
};

/// y = relu(x): x is float [N, 4].
inline fakes::TinyOnnx relu_model() {
  return fakes::TinyOnnx().input("x", 1, {"N", "4"}).output("y", 1, {"N", "4"}).node("Relu", {"x"}, {"y"});
}

inline std::vector<float> floats_of(const NamedTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

}  // namespace ridgeline::workload
