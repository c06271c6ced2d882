// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/external_data.hpp"

#include <gtest/gtest.h>

#include "base/hash.hpp"
#include "fakes/onnx_builder.hpp"
#include "unit/workload/temp_folder.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

/// x + w with w[4] (16 bytes) in weights.bin.
fakes::OnnxBuilder external_model(const std::string& offset, const std::string& length) {
  fakes::OnnxBuilder model;
  model.input("x", {4}).weight("w", {4}).node("Add", {"x", "w"}, {"y"}).output("y");
  auto* tensor = model.model.mutable_graph()->mutable_initializer(0);
  tensor->clear_raw_data();
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] :
       {std::pair<std::string, std::string>{"location", "weights.bin"}, {"offset", offset}, {"length", length}}) {
    if (value.empty()) continue;
    auto* entry = tensor->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  return model;
}

TEST(ExternalData, adds_up_files_and_hashes_them_with_the_model) {
  TempFolder folder;
  const auto model = external_model("8", "16");
  const auto path = folder.write("m.onnx", model.bytes());
  folder.write("weights.bin", std::string(24, 'w'));
  const auto external = check_external_data(model.model, path);
  ASSERT_TRUE(external) << external.error().message;
  EXPECT_EQ(external->bytes, 24);
  const auto before = sha256_model(path, *external);
  ASSERT_TRUE(before);
  EXPECT_NE(*before, *base::sha256_file(path));
  folder.write("weights.bin", std::string(24, 'v'));
  EXPECT_NE(*sha256_model(path, *external), *before);
  EXPECT_EQ(*sha256_model(path, {}), *base::sha256_file(path));
}

TEST(ExternalData, names_the_file_and_tensor_that_are_missing_or_too_short) {
  TempFolder folder;
  const auto path = folder / "m.onnx";
  const auto missing = check_external_data(external_model("0", "16").model, path);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_NE(missing.error().message.find("weights.bin"), std::string::npos);
  EXPECT_NE(missing.error().message.find("tensor w"), std::string::npos);
  folder.write("weights.bin", std::string(16, 'w'));
  const auto past_end = check_external_data(external_model("4", "16").model, path);
  ASSERT_FALSE(past_end);
  EXPECT_EQ(past_end.error().code, ErrorCode::corrupt);
  EXPECT_NE(past_end.error().message.find("needs bytes 4 to 20"), std::string::npos) << past_end.error().message;
}

TEST(ExternalData, refuses_malformed_numbers) {
  TempFolder folder;
  folder.write("weights.bin", std::string(16, 'w'));
  for (const auto& [offset, length] :
       {std::pair<const char*, const char*>{"-1", "16"}, {"x", "16"}, {"0", "12"}, {"9223372036854775807", "16"}}) {
    const auto result = check_external_data(external_model(offset, length).model, folder / "m.onnx");
    ASSERT_FALSE(result) << offset << " " << length;
    EXPECT_EQ(result.error().code, ErrorCode::corrupt);
  }
}

}  // namespace
}  // namespace ridgeline::workload
