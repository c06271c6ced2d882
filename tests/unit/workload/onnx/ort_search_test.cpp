// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_search.hpp"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "unit/workload/temp_folder.hpp"

namespace ridgeline::workload {
namespace {

const std::string kSite = "lib/python3.11/site-packages/";

class OrtSearch : public ::testing::Test {
 protected:
  OrtSearch() {
    environment_.executable = folder_ / "app/bin/ridgeline";
    environment_.cache = folder_ / "cache";
  }
  /// Its content is its name, so that no two are copies of each other.
  std::string put(const std::string& name) { return folder_.write(name, name).string(); }
  /// A wheel as pip unpacks it.
  std::string install(const std::string& prefix, const std::string& package, const std::string& version) {
    auto info = package;
    std::replace(info.begin(), info.end(), '-', '_');
    folder_.write(prefix + "/" + kSite + info + "-" + version + ".dist-info/RECORD",
                  "onnxruntime/LICENSE,sha256=x,1073\nonnxruntime/__init__.py,sha256=x,10\n");
    return put(prefix + "/" + kSite + "onnxruntime/capi/libonnxruntime.so." + version);
  }
  std::vector<schema::FoundRuntime> find(const schema::RuntimeRequest& request = {}) const {
    return find_runtimes(request, environment_).runtimes;
  }
  std::vector<std::string> files(const schema::RuntimeRequest& request = {}) const {
    std::vector<std::string> files;
    for (const auto& runtime : find(request)) files.push_back(runtime.library_path);
    return files;
  }
  TempFolder folder_;
  OrtSearchEnvironment environment_;
};

TEST_F(OrtSearch, a_library_named_by_the_flag_is_the_only_one_but_for_those_that_are_added) {
  put("app/lib/libonnxruntime.so");
  environment_.ort_library = put("variable/libonnxruntime.so");
  const auto found = find({"/x/libonnxruntime.so", {(folder_ / "app/lib").string()}, {}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].named && found[0].pinned);
  EXPECT_EQ(found[0].library_path, "/x/libonnxruntime.so");
  EXPECT_EQ(fakes::text_of(found[0].place), "--ort-library /x/libonnxruntime.so");
  EXPECT_TRUE(found[1].named && !found[1].pinned);
}

TEST_F(OrtSearch, a_file_of_the_working_folder_needs_no_slash) {
  const auto file = put("release/libmine.so");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_ / "release");
  const auto there = files({"libmine.so", {}, {}});
  const auto absent = files({"libother.so", {}, {}});
  std::filesystem::current_path(before);
  EXPECT_EQ(there, std::vector<std::string>{file});
  EXPECT_EQ(absent, std::vector<std::string>{"libother.so"}) << "the loader's to find";
}

TEST_F(OrtSearch, a_named_folder_may_be_that_of_an_archive_a_package_or_an_environment) {
  const auto archive = put("release/lib/libonnxruntime.so.1.20.0");
  const auto wheel = install("venv", "onnxruntime", "1.27.0");
  EXPECT_EQ(files({(folder_ / "release").string(), {}, {}}), std::vector<std::string>{archive});
  for (const auto* folder :
       {"venv", "venv/lib/python3.11/site-packages", "venv/lib/python3.11/site-packages/onnxruntime"})
    EXPECT_EQ(files({(folder_ / folder).string(), {}, {}}), std::vector<std::string>{wheel}) << folder;
  std::filesystem::create_directories(folder_ / "app");
  const auto none = find({(folder_ / "app").string(), {}, {}});
  ASSERT_EQ(none.size(), 1U);
  EXPECT_NE(fakes::text_of(none[0].problem).find("no libonnxruntime.so in that folder"), std::string::npos);
}

TEST_F(OrtSearch, only_the_first_variable_pins_the_runtime) {
  environment_.ort_root = (folder_ / "root").string();
  put("root/lib/libonnxruntime.so");
  EXPECT_TRUE(find().front().pinned && find().front().named);
  environment_.ort_library = "/y/libonnxruntime.so";
  const auto found = find();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].pinned);
  EXPECT_EQ(found[0].library_path, "/y/libonnxruntime.so");
  EXPECT_FALSE(found[1].pinned || found[1].named);
}

TEST_F(OrtSearch, places_come_in_the_documented_order) {
  const std::vector<std::string> expected{
      put("root/lib/libonnxruntime.so"),
      install("venv", "onnxruntime", "1.20.1"),
      put("conda/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.21.0"),
      put("usr/lib/python3/dist-packages/onnxruntime/capi/libonnxruntime.so.1.18.0"),
      put("home/.local/lib/python3.11/site-packages/onnxruntime/capi/libonnxruntime.so.1.19.0"),
      put("app/bin/libonnxruntime.so"),
      put("app/lib/libonnxruntime.so.1"),
      put("cache/onnxruntime/1.29.0/lib/libonnxruntime.so"),
      put("cache/onnxruntime/1.9.0/lib/libonnxruntime.so"),
      put("ld/libonnxruntime.so.1.22.0"),
      put("usr/lib/x86_64-linux-gnu/libonnxruntime.so.1.21"),
      put("more/libonnxruntime.so"),
  };
  put("usr/bin/python3");
  environment_.ort_root = (folder_ / "root").string();
  environment_.virtual_env = (folder_ / "venv").string();
  environment_.conda_prefix = (folder_ / "conda").string();
  environment_.path = (folder_ / "nowhere").string() + ":" + (folder_ / "usr/bin").string();
  environment_.home = (folder_ / "home").string();
  environment_.ld_library_path = ":" + (folder_ / "ld").string();
  environment_.system_folders = {folder_ / "usr/lib/x86_64-linux-gnu"};
  EXPECT_EQ(files({"", {(folder_ / "more").string()}, {}}), expected);
}

TEST_F(OrtSearch, a_python_without_onnxruntime_is_silent) {
  put("usr/bin/python3");
  std::filesystem::create_directories(folder_ / ("usr/" + kSite));
  environment_.path = (folder_ / "usr/bin").string();
  EXPECT_TRUE(find().empty());
  const auto looked_in = find_runtimes({}, environment_).looked_in;
  EXPECT_TRUE(std::any_of(looked_in.begin(), looked_in.end(),
                          [](const auto& place) { return place.is("schema.place_empty"); }));
}

TEST_F(OrtSearch, the_python_of_pyenv_is_the_version_that_its_script_starts) {
  put("pyenv/shims/python3");
  folder_.write("pyenv/version", "3.11.7\n");
  const auto file = install("pyenv/versions/3.11.7", "onnxruntime", "1.32.0");
  environment_.path = (folder_ / "pyenv/shims").string();
  EXPECT_EQ(files(), std::vector<std::string>{file});
}

TEST_F(OrtSearch, conda_keeps_the_library_beside_its_others) {
  put("conda/conda-meta/history");
  const auto file = put("conda/lib/libonnxruntime.so.1.26.0");
  environment_.conda_prefix = (folder_ / "conda").string();
  EXPECT_EQ(files(), std::vector<std::string>{file});
}

TEST_F(OrtSearch, a_link_or_a_copy_is_the_same_runtime_with_the_plug_ins_of_both) {
  const auto file = install("venv", "onnxruntime", "1.24.1");
  folder_.write("venv2/" + kSite + "onnxruntime/capi/libonnxruntime.so.1.24.1",
                "venv/" + kSite + "onnxruntime/capi/libonnxruntime.so.1.24.1");
  const auto plugin = put("venv2/" + kSite + "onnxruntime_ep_webgpu/libonnxruntime_providers_webgpu.so");
  std::filesystem::create_directories(folder_ / "app/lib");
  std::filesystem::create_symlink(file, folder_ / "app/lib/libonnxruntime.so");
  environment_.virtual_env = (folder_ / "venv").string();
  const auto found = find({"", {(folder_ / "venv2").string()}, {}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].library_path, file);
  EXPECT_TRUE(found[0].named) << "it is the one that --runtime names, too";
  EXPECT_FALSE(found[0].pinned);
  ASSERT_EQ(found[0].plugins.size(), 1U);
  EXPECT_EQ(found[0].plugins[0].library_path, plugin);
}

TEST_F(OrtSearch, a_package_that_has_only_the_python_module_is_told) {
  install("venv", "onnxruntime", "1.18.1");
  std::filesystem::remove(folder_ / ("venv/" + kSite + "onnxruntime/capi/libonnxruntime.so.1.18.1"));
  put("venv/" + kSite + "onnxruntime/capi/_pybind_state.py");
  environment_.virtual_env = (folder_ / "venv").string();
  const auto found = find();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(fakes::text_of(found[0].problem).find("only the Python module of onnxruntime 1.18.1"), std::string::npos)
      << fakes::text_of(found[0].problem);
  EXPECT_NE(fakes::words().hint(found[0].problem).find("pip install --upgrade"), std::string::npos);
  EXPECT_FALSE(found[0].named);
  const auto named = find({(folder_ / "venv").string(), {}, {}});
  ASSERT_EQ(named.size(), 1U);
  EXPECT_TRUE(named[0].named);
  EXPECT_EQ(named[0].problem, found[0].problem);
}

TEST_F(OrtSearch, packages_that_overwrote_each_other_are_told_with_the_fix) {
  install("venv", "onnxruntime-gpu", "1.31.1");
  install("venv", "onnxruntime", "1.32.0");
  folder_.write("venv/" + kSite + "onnxruntime_extensions-0.14.0.dist-info/RECORD",
                "onnxruntime_extensions/__init__.py,,\n");
  environment_.virtual_env = (folder_ / "venv").string();
  const auto found = find();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].version, "1.32.0");
  EXPECT_EQ(found[0].packages, (std::vector<std::string>{"onnxruntime 1.32.0", "onnxruntime-gpu 1.31.1"}));
  const auto conflict = fakes::text_of(found[0].conflict());
  EXPECT_NE(conflict.find("onnxruntime 1.32.0 and onnxruntime-gpu 1.31.1 overwrote"), std::string::npos) << conflict;
  EXPECT_NE(conflict.find("pip uninstall -y onnxruntime onnxruntime-gpu"), std::string::npos) << conflict;
}

TEST_F(OrtSearch, plug_in_packages_give_the_library_that_they_would_name_themselves) {
  install("venv", "onnxruntime", "1.24.1");
  const auto module = "venv/" + kSite + "onnxruntime_ep_openvino/";
  folder_.write("venv/" + kSite + "onnxruntime_ep_openvino-1.8.1.dist-info/RECORD",
                "onnxruntime_ep_openvino/__init__.py,,1\n");
  put(module + "libopenvino.so.2641");
  put(module + "libonnxruntime_providers_openvino_plugin.so.1.8.1");
  put(module + "libonnxruntime_providers_shared.so");
  const auto library = put(module + "libonnxruntime_providers_openvino_plugin.so");
  std::filesystem::create_directories(folder_ / ("venv/" + kSite + "onnxruntime_ep_empty"));
  put("venv/" + kSite + "onnxruntime_qnn/__init__.py");
  const auto qnn = put("venv/" + kSite + "onnxruntime/capi/libonnxruntime_providers_qnn.so");
  environment_.virtual_env = (folder_ / "venv").string();
  auto found = find();
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].plugins.size(), 2U);
  EXPECT_EQ(found[0].plugins[0].library_path, library);
  EXPECT_EQ(found[0].plugins[0].package, "onnxruntime-ep-openvino 1.8.1");
  EXPECT_EQ(found[0].plugins[1].library_path, qnn);
  // A runtime of no environment works with those of the active one, and every runtime with those that are named.
  put("app/lib/libonnxruntime.so");
  schema::RuntimeRequest request;
  request.plugins.emplace_back().library_path = "/mine.so";
  found = find(request);
  ASSERT_EQ(found.size(), 2U);
  ASSERT_EQ(found[1].plugins.size(), 3U);
  EXPECT_EQ(found[1].plugins[0].library_path, library);
  EXPECT_EQ(found[1].plugins[2].library_path, "/mine.so");
}

TEST_F(OrtSearch, provider_libraries_are_no_runtimes_and_newer_versions_come_first) {
  const auto older = put("lib/libonnxruntime.so.1.9.0");
  const auto newer = put("lib/libonnxruntime.so.1.20.0");
  put("lib/libonnxruntime_providers_shared.so");
  const auto plain = put("lib/libonnxruntime.so");
  EXPECT_EQ(ort_files_in(folder_ / "lib"), (std::vector<std::string>{plain, newer, older}));
  EXPECT_TRUE(ort_files_in(folder_ / "absent").empty());
}

}  // namespace
}  // namespace ridgeline::workload
