// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/model_file.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "fakes/onnx_builder.hpp"
#include "unit/workload/temp_folder.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using namespace std::string_literals;

std::string relu() {
  return fakes::OnnxBuilder().input("x", {1, 4}).node("Relu", {"x"}, {"y"}).output("y", {1, 4}).bytes();
}

class ModelFileTest : public ::testing::Test {
 protected:
  base::Error error_of(const std::string& name, const std::string& bytes) {
    const auto file = load_model_file(folder_.write(name, bytes));
    EXPECT_FALSE(file) << name;
    return file ? base::Error{} : file.error();
  }
  TempFolder folder_;
};

TEST_F(ModelFileTest, reads_a_model) {
  const auto file = load_model_file(folder_.write("m.onnx", relu()));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->bytes, static_cast<std::int64_t>(relu().size()));
  EXPECT_EQ(file->model.graph().node_size(), 1);
}

TEST_F(ModelFileTest, says_what_is_wrong_with_the_path) {
  const auto missing = load_model_file(folder_ / "none.onnx");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_NE(missing.error().message.find("none.onnx"), std::string::npos);
  const auto folder = load_model_file(folder_.path());
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("is a directory"), std::string::npos);
  folder_.write("saved_model.pb", "x");
  const auto saved = load_model_file(folder_.path());
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().message.find("TensorFlow saved model"), std::string::npos);
  EXPECT_NE(error_of("empty.onnx", "").message.find("is empty"), std::string::npos);
}

TEST_F(ModelFileTest, names_other_formats) {
  const std::pair<std::string, const char*> cases[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "git-lfs pointer"},
      {"PK\x03\x04"s + "archive/data.pkl", "torch.save"},
      {"\x1c\x00\x00\x00TFL3"s + std::string(20, '\1'), "TensorFlow Lite"},
      {"ftrt"s + std::string(20, '\0'), "TensorRT engine"},
      {"\x10\x00\x00\x00ORTM"s + std::string(20, '\1'), ".ort format"},
      {"\x89HDF\r\n\x1a\n"s, "Keras"},
      {"<!DOCTYPE html><html></html>", "HTML page"},
      {"just some text\n", "text file"},
  };
  for (const auto& [bytes, words] : cases) {
    const auto error = error_of("m.onnx", bytes);
    EXPECT_EQ(error.code, ErrorCode::invalid_argument) << words;
    EXPECT_NE(error.message.find(words), std::string::npos) << error.message;
    EXPECT_EQ(error.message.find('\n'), std::string::npos);
  }
  EXPECT_NE(error_of("m.pb", "\x0a\x10\x0a\x04tensorflow.x\x08"s).message.find("TensorFlow model"), std::string::npos);
  EXPECT_NE(error_of("m.onnx", "\xff\xfe\x00\x01 rubbish"s).message.find("is not an ONNX model"), std::string::npos);
}

TEST_F(ModelFileTest, calls_every_cut_of_a_model_truncated_or_no_model) {
  const auto bytes = relu();
  int truncated = 0;
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const auto error = error_of("cut.onnx", bytes.substr(0, size));
    EXPECT_TRUE(error.code == ErrorCode::corrupt || error.code == ErrorCode::invalid_argument) << size << error.message;
    truncated += error.code == ErrorCode::corrupt ? 1 : 0;
  }
  EXPECT_GT(truncated, static_cast<int>(bytes.size()) / 2);
}

TEST_F(ModelFileTest, points_to_external_data_from_two_gibibytes_on) {
  const auto path = folder_.write("big.onnx", relu());
  std::filesystem::resize_file(path, (std::uintmax_t{1} << 31U) + 5);  // a sparse file: takes no space
  const auto file = load_model_file(path);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::unsupported);
  EXPECT_NE(file.error().hint.find("external data"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::workload
