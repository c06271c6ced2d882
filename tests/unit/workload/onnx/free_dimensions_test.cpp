// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/free_dimensions.hpp"

#include <gtest/gtest.h>

namespace ridgeline::workload {
namespace {

using Sizes = std::map<std::string, std::int64_t>;

schema::WorkloadRef image_model() {
  schema::WorkloadRef workload;
  workload.shapes = {{{"images", {1, 3, 224, 224}}, {"scale", {2}}}};
  workload.dim_names = {{"images", {"N", "", "height", "width"}}};
  return workload;
}

TEST(FreeDimensions, names_get_the_sizes_of_the_shapes) {
  EXPECT_EQ(free_dimensions(image_model(), 0), (Sizes{{"N", 1}, {"height", 224}, {"width", 224}}));
}

TEST(FreeDimensions, the_batch_is_the_configurations) {
  EXPECT_EQ(free_dimensions(image_model(), 64), (Sizes{{"N", 64}, {"height", 224}, {"width", 224}}));
}

TEST(FreeDimensions, what_varies_in_the_mix_stays_free) {
  auto workload = image_model();
  workload.shapes.push_back({{"images", {1, 3, 320, 224}}, {"scale", {2}}});
  EXPECT_EQ(free_dimensions(workload, 0), (Sizes{{"N", 1}, {"width", 224}}));
}

TEST(FreeDimensions, a_model_without_symbols_has_none) {
  auto workload = image_model();
  workload.dim_names.clear();
  EXPECT_TRUE(free_dimensions(workload, 8).empty());
}

TEST(FreeDimensions, fixed_ports_get_their_names_back_where_they_are) {
  std::vector<OrtPort> ports(1);
  ports[0].description.name = "images";
  ports[0].description.dims = {64, 3, 224, 224};
  ports[0].description.dim_names = {"", "", "", ""};
  const char* name = ports[0].description.name.c_str();
  restore_free_dimensions(ports, image_model());
  EXPECT_EQ(ports[0].description.dims, (std::vector<std::int64_t>{-1, 3, -1, -1}));
  EXPECT_EQ(ports[0].description.dim_names, (std::vector<std::string>{"N", "", "height", "width"}));
  EXPECT_EQ(ports[0].description.name.c_str(), name) << "sessions hold pointers to the names";
}

}  // namespace
}  // namespace ridgeline::workload
