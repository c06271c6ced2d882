// SPDX-License-Identifier: Apache-2.0
// Every model of Debian's libonnx-testdata, whole and damaged: a description or one clear error line, never a crash.
#include <algorithm>
#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "fakes/words.hpp"
#include "unit/workload/temp_folder.hpp"
#include "workload/onnx/model_inspector.hpp"

namespace ridgeline::workload {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCorpus = "/usr/share/libonnx-testdata/data";

std::vector<fs::path> corpus() {
  std::vector<fs::path> models;
  std::error_code error;
  for (fs::recursive_directory_iterator at(kCorpus, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".onnx") models.push_back(at->path());
  std::sort(models.begin(), models.end());
  return models;
}

base::Result<schema::ModelDescription> inspect(const fs::path& path) {
  InspectRequest request;
  request.workload.location = path.string();
  return inspect_onnx_model(request);
}

TEST(ModelCorpus, describes_every_model_of_the_onnx_backend_tests) {
  const auto models = corpus();
  if (models.empty()) GTEST_SKIP() << "no models below " << kCorpus << ": install libonnx-testdata";
  std::map<std::string, int> uncounted;
  int complete = 0;
  for (const auto& path : models) {
    const auto description = inspect(path);
    if (!description && description.error().message.find("has no elements") != std::string::npos) continue;
    ASSERT_TRUE(description) << path << ": " << description.error().message;
    EXPECT_EQ(description->sha256.size(), 64U);
    EXPECT_GE(description->shapes.size(), 1U);
    for (const auto& shape : description->shapes.front())
      for (const auto dim : shape.dims) EXPECT_GE(dim, 0) << path << " " << shape.name;
    for (const auto& note : fakes::texts_of(description->notes)) {
      EXPECT_EQ(note.find("do not fit"), std::string::npos) << path << ": " << note;  // they are all valid models
      EXPECT_EQ(note.find('\n'), std::string::npos) << path << ": " << note;
    }
    complete += description->uncounted_ops.empty() ? 1 : 0;
    for (const auto& [name, count] : description->uncounted_ops) ++uncounted[name];
  }
  RecordProperty("models", static_cast<int>(models.size()));
  RecordProperty("counted_completely", complete);
  std::string listed;
  for (const auto& [name, count] : uncounted) listed += fmt::format("{} {} ", name, count);
  RecordProperty("uncounted", listed);
  EXPECT_GT(complete, static_cast<int>(models.size()) * 8 / 10) << listed;
}

/// One to three bits or bytes changed, now and then a byte lost or added.
std::string damage(std::string bytes, std::mt19937& random) {
  const auto changes = 1 + random() % 3;
  for (unsigned i = 0; i < changes && !bytes.empty(); ++i) {
    auto& byte = bytes[random() % bytes.size()];
    if (random() % 64 == 0) {
      bytes.erase(random() % bytes.size(), 1);
    } else if (random() % 64 == 0) {
      bytes.insert(random() % bytes.size(), 1, static_cast<char>(random() % 3));
    } else if (random() % 2 == 0) {
      byte = static_cast<char>(random());
    } else {
      byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << random() % 8));
    }
  }
  return bytes;
}

TEST(ModelCorpus, survives_damaged_models) {
  auto models = corpus();
  if (models.empty()) GTEST_SKIP() << "no models below " << kCorpus << ": install libonnx-testdata";
  const TempFolder folder;
  std::mt19937 random(20);
  int described = 0;
  int refused = 0;
  for (std::size_t at = 0; at < models.size(); ++at) {
    const auto bytes = base::read_file(models[at]);
    ASSERT_TRUE(bytes);
    if (bytes->size() > 100'000) continue;
    for (int round = 0; round < 2; ++round) {
      SCOPED_TRACE(fmt::format("{} round {}", models[at].string(), round));
      // A new name each time: many file systems flush a file that is overwritten in place.
      const auto path = folder.write(fmt::format("damaged_{}_{}.onnx", at, round), damage(*bytes, random));
      const auto result = inspect(path);
      fs::remove(path);
      result ? ++described : ++refused;
      if (result) continue;
      EXPECT_FALSE(result.error().message.empty());
      EXPECT_EQ(result.error().message.find('\n'), std::string::npos) << result.error().message;
    }
  }
  EXPECT_GT(described, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace ridgeline::workload
