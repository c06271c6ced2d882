// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_error.hpp"

#include <gtest/gtest.h>

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

// Texts as ONNX Runtime 1.17 to 1.29 write them; the numbers are OrtErrorCode.
constexpr int kFail = 1;
constexpr int kInvalidArgument = 2;
constexpr int kNoSuchFile = 3;
constexpr int kRuntimeException = 6;
constexpr int kInvalidProtobuf = 7;
constexpr int kNotImplemented = 9;
constexpr int kInvalidGraph = 10;

TEST(OrtError, of_openvino_the_reason_is_left) {
  const auto error = classify_ort_error(
      kFail,
      "Exception during initialization: /onnxruntime/core/providers/openvino/backends/basic_backend.cc:136 "
      "onnxruntime::openvino_ep::BasicBackend::BasicBackend(ptr_stream_t&) [OpenVINO-EP] Exception while Loading "
      "Network for graph g_0: Exception from src/inference/src/cpp/core.cpp:114:\nException from "
      "src/plugins/intel_cpu/src/config.cpp:475:\nNotFound: Unsupported property X by CPU plugin.\n\n\n");
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(
      error.message,
      "onnxruntime: Exception during initialization: [OpenVINO-EP] Exception while Loading Network for graph g_0: "
      "NotFound: Unsupported property X by CPU plugin");
}

TEST(OrtError, classes_follow_text_and_code) {
  struct Case {
    int code;
    const char* text;
    ErrorCode expected;
  };
  const Case cases[] = {
      {kNotImplemented, "Could not find an implementation for Acosh(22) node with name 'n'", ErrorCode::unsupported},
      {kFail, "Load model from m.onnx failed:Fatal error: com.example:Foo(-1) is not a registered function/op",
       ErrorCode::unsupported},
      {kInvalidGraph,
       "This is an invalid model. In Node, (\"n\", Foo, \"\", -1) : Error No Op registered for Foo with domain_version "
       "of 17",
       ErrorCode::unsupported},
      {kFail,
       "ONNX Runtime only *guarantees* support for models stamped with official released onnx opset versions. Opset 99 "
       "is under development",
       ErrorCode::unsupported},
      {kFail, "Unsupported model IR version: 99, max supported IR version: 11", ErrorCode::unsupported},
      {kRuntimeException, "Failed to allocate memory for requested buffer of size 70368744177664",
       ErrorCode::out_of_memory},
      {kRuntimeException, "Exception during initialization: std::bad_alloc", ErrorCode::out_of_memory},
      {kFail, "CUDA failure 2: out of memory ; GPU=0", ErrorCode::out_of_memory},
      {kFail, "CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=0 ; hostname=h", ErrorCode::out_of_memory},
      {kFail, "Non-zero status code returned while running Conv node. CUDNN failure 4000: CUDNN_STATUS_ALLOC_FAILED",
       ErrorCode::out_of_memory},
      {kFail, "CUDNN failure 4002: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED", ErrorCode::out_of_memory},
      {kFail, "TensorRT: Error Code 2: OutOfMemory (requested size was 4096 bytes)", ErrorCode::out_of_memory},
      {kInvalidProtobuf, "Load model from m.onnx failed:Protobuf parsing failed.", ErrorCode::corrupt},
      {kInvalidGraph, "This is an invalid model. Type Error: Type 'tensor(int64)' of input parameter (x) is invalid.",
       ErrorCode::corrupt},
      {kNoSuchFile, "Load model from m.onnx failed. File doesn't exist", ErrorCode::not_found},
      {kInvalidArgument,
       "Got invalid dimensions for input: x for the following indices\n index: 1 Got: 5 Expected: 4\n Please fix "
       "either the inputs/outputs or the model.",
       ErrorCode::invalid_argument},
      {kFail, "Number of affinities does not equal to thread_pool_size minus one, affinities: 1, thread_pool_size: 3",
       ErrorCode::invalid_argument},
      {kFail,
       "Failed to load library libonnxruntime_providers_cuda.so with error: libcudnn.so.9: cannot open shared object "
       "file",
       ErrorCode::unavailable},
      {kFail, "Exiting due to terminate flag being set to true.", ErrorCode::cancelled},
      {kInvalidArgument,
       "Non-zero status code returned while running OneHot node. Name:'' Status Message: Depth is negative.",
       ErrorCode::internal},
      {kRuntimeException,
       "Exception during initialization: Batchwise recurrent operations (layout == 1) are not supported.",
       ErrorCode::unsupported},
      {kFail, "something nobody has seen before", ErrorCode::internal},
  };
  for (const auto& one : cases) EXPECT_EQ(classify_ort_error(one.code, one.text).code, one.expected) << one.text;
}

TEST(OrtError, a_model_from_the_future_and_an_unknown_operator_say_what_to_do) {
  EXPECT_EQ(
      base::error_line(classify_ort_error(
          kFail,
          "Load model from m.onnx failed:ONNX Runtime only *guarantees* support for models stamped with official "
          "released onnx opset versions. Opset 99 is under development and support for this is limited. The operator "
          "schemas and or other functionality may change before next ONNX release and in this case ONNX Runtime will "
          "not guarantee backward compatibility. Current official support for domain ai.onnx is till opset 24.")),
      "onnxruntime: m.onnx: opset 99 is newer than this ONNX Runtime knows (till 24); export the model with opset 24 "
      "or "
      "less, or use a newer ONNX Runtime with --ort-library FILE");
  const auto unknown =
      base::error_line(classify_ort_error(kInvalidGraph, "Error No Op registered for Foo with domain_version of 17"));
  EXPECT_NE(unknown.find("Foo with domain_version of 17; expected an operator of the model's opset"), std::string::npos)
      << unknown;
  const auto custom =
      base::error_line(classify_ort_error(kFail, "Fatal error: my.domain:MyOp(-1) is not a registered function/op"));
  EXPECT_NE(custom.find("MyOp(-1) is not a registered function/op; an operator of a library"), std::string::npos)
      << custom;
  const auto ir =
      base::error_line(classify_ort_error(kFail, "Unsupported model IR version: 99, max supported IR version: 11"));
  EXPECT_NE(ir.find("11; export the model with an older onnx"), std::string::npos) << ir;
}

TEST(OrtError, the_message_keeps_what_matters_on_one_line) {
  EXPECT_EQ(
      shorten_ort_message(
          "Non-zero status code returned while running Add node. Name:'Add_y' Status Message: "
          "/onnxruntime_src/onnxruntime/core/providers/cpu/math/element_wise_ops.h:560 void "
          "onnxruntime::BroadcastIterator::Append(ptrdiff_t, ptrdiff_t) axis == 1 || axis == largest was false.\n"),
      "Non-zero status code returned while running Add node. Name:'Add_y' Status Message: axis == 1 || axis == largest "
      "was false");
  EXPECT_EQ(shorten_ort_message(
                "failed:/a/b.cc:12 std::function<void()> ns::F::g(int (*)(int)) const [with T = float] bad\n\nthing"),
            "failed:bad thing");
  EXPECT_EQ(
      shorten_ort_message("Status Message: upsamplebase.h:548 ScalesValidation Scale value should be greater than 0."),
      "Status Message: Scale value should be greater than 0");
  EXPECT_EQ(shorten_ort_message("init: /a/b.cc:12 ns::F::F(const std::string&)::<lambda()> no such locale"),
            "init: no such locale");
  EXPECT_EQ(shorten_ort_message("plain text at m.cc: not a position"), "plain text at m.cc: not a position");
  EXPECT_EQ(shorten_ort_message("cut /a/b.cc:12 void f(int"), "cut /a/b.cc:12 void f(int");
}

TEST(OrtError, a_long_message_is_cut_between_characters) {
  const auto text = std::string(99, 'a') + "\xC3\xA9" + std::string(8, 'b') + "\xC3\xA9" + std::string(199, 'c');
  EXPECT_EQ(shorten_ort_message(text), std::string(99, 'a') + "..." + std::string(199, 'c'));
}

TEST(OrtError, an_empty_message_names_the_code) {
  EXPECT_EQ(classify_ort_error(6, "").message, "onnxruntime: error code 6 without a message");
}

TEST(OrtError, the_size_of_a_failed_allocation_is_read) {
  EXPECT_EQ(requested_bytes("Failed to allocate memory for requested buffer of size 4096"), 4096);
  EXPECT_EQ(requested_bytes("Available memory of 5 is smaller than requested bytes of 1024"), 1024);
  EXPECT_EQ(requested_bytes("requested buffer of size 12, later requested buffer of size 34"), 34);
  EXPECT_FALSE(requested_bytes("requested buffer of size 99999999999999999999999"));
  EXPECT_FALSE(requested_bytes("requested buffer of size "));
  EXPECT_FALSE(requested_bytes("buffer of size much"));
  EXPECT_FALSE(requested_bytes("nothing"));
}

}  // namespace
}  // namespace ridgeline::workload
