// SPDX-License-Identifier: Apache-2.0
#include "execute/runtime_candidates.hpp"

#include <map>

#include <gtest/gtest.h>

#include "fakes/typed_executor.hpp"
#include "fakes/words.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;

/// Runtimes by the files that they are in.
class RuntimesMachine final : public fakes::TypedExecutor {
 public:
  schema::RuntimeSearch search{{}, {schema::messages::foreign("everywhere")}};
  std::map<std::string, base::Result<schema::RuntimeIdentity>> answers;
  std::map<std::string, base::Result<schema::PluginLibrary>> plugin_answers;
  std::vector<std::string> asked;  ///< in order; a runtime with a plug-in as "runtime+plugin"

  schema::FoundRuntime& add(const std::string& path, base::Result<schema::RuntimeIdentity> answer) {
    answers.emplace(path, std::move(answer));
    auto& found = search.runtimes.emplace_back();
    found.library_path = path;
    found.place = schema::messages::foreign("the place of " + path);
    found.version = "1.24.1";
    return found;
  }
  schema::RuntimeSearch find_runtimes(const schema::RuntimeRequest&) override { return search; }
  base::Result<schema::RuntimeIdentity> probe_with(const ProbeRequest& request) override {
    asked.push_back(request.library + (request.plugins.empty() ? "" : "+" + request.plugins.front().library_path));
    auto answer = answers.at(request.library);
    for (const auto& plugin : request.plugins) {
      const auto& found = plugin_answers.at(plugin.library_path);
      if (!found) return tl::unexpected(found.error());
      answer->plugins.push_back(*found);
    }
    return answer;
  }
};

schema::RuntimeIdentity runtime_with(std::vector<std::string> providers) {
  schema::RuntimeIdentity identity;
  identity.name = "onnxruntime";
  identity.version = "1.24.1";
  identity.library_path = "/x";
  identity.providers = std::move(providers);
  return identity;
}

const auto kCpuBuild = runtime_with({"CPUExecutionProvider"});
const auto kGpuBuild = runtime_with({"CUDAExecutionProvider", "CPUExecutionProvider"});
const base::Error kCrash{ErrorCode::crashed, "the worker died of SIGSEGV"};

class FoundRuntimesTest : public ::testing::Test {
 protected:
  base::Result<ChosenRuntime> choose(const std::string& provider) {
    auto found = FoundRuntimes::find(machine_, "onnx", {});
    EXPECT_TRUE(found);
    return found->choose(provider, environment_);
  }
  void give_gpu() { environment_.gpus.emplace_back().name = "NVIDIA H200"; }
  RuntimesMachine machine_;
  schema::Environment environment_;
};

using Lines = std::vector<std::string>;

TEST_F(FoundRuntimesTest, without_a_gpu_the_first_that_loads_is_taken_and_no_other_is_asked) {
  machine_.add("/a", tl::unexpected(kCrash));
  machine_.add("/b", kCpuBuild);
  machine_.add("/c", kGpuBuild).packages = {"onnxruntime-gpu 1.31.1"};
  const auto chosen = choose("");
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->index, 1U);
  EXPECT_EQ(chosen->provider, "cpu");
  EXPECT_EQ(machine_.asked, (Lines{"/a", "/b"}));
  EXPECT_EQ(fakes::texts_of(chosen->notes),
            (Lines{"skipped: /a: the worker died of SIGSEGV",
                   "other candidates are available: onnxruntime-gpu 1.31.1 at /c; --provider auto compares them"}));
}

TEST_F(FoundRuntimesTest, what_has_no_answer_within_the_runs_time_ends_the_choice_but_is_no_fault_of_a_candidate) {
  machine_.add("/a", tl::unexpected(base::Error{ErrorCode::out_of_time, "ended after 5.0 s"}));
  machine_.add("/b", kCpuBuild);
  const auto chosen = choose("");
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code, ErrorCode::out_of_time);
  EXPECT_EQ(machine_.asked, (Lines{"/a"}));
  machine_.search.runtimes.front().named = true;
  auto found = FoundRuntimes::find(machine_, "onnx", {});
  const auto candidates = runtime_candidates(*found, environment_);
  ASSERT_TRUE(candidates) << candidates.error().message;
  EXPECT_EQ(candidates->usable.size(), 1U);
  EXPECT_EQ(fakes::texts_of(candidates->passed_over), (Lines{"/a: --max-time was over: ended after 5.0 s"}));
}

TEST_F(FoundRuntimesTest, with_a_gpu_the_first_that_can_use_it_is_taken) {
  give_gpu();
  auto broken = kGpuBuild;
  broken.provider_notes["cuda"] = {
      schema::messages::foreign("libcudart.so.13 is not found"), {}, {}, {"libcudart.so.13"}};
  machine_.add("/a", kCpuBuild);
  machine_.add("/b", broken);
  machine_.add("/c", kGpuBuild);
  machine_.add("/d", kGpuBuild);
  const auto chosen = choose("auto");
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->index, 2U);
  EXPECT_EQ(chosen->provider, "cuda");
  EXPECT_EQ(machine_.asked, (Lines{"/a", "/b", "/c"}));
  EXPECT_EQ(fakes::texts_of(chosen->notes),
            (Lines{"skipped: ONNX Runtime 1.24.1 at /a: built without the CUDA provider; ONNX "
                   "Runtime 1.24.1 at /b: libcudart.so.13 is not found"}));
}

TEST_F(FoundRuntimesTest, where_none_can_use_the_gpu_the_first_is_taken_with_its_cpu_provider) {
  give_gpu();
  machine_.add("/a", kCpuBuild);
  machine_.add("/b", kCpuBuild);
  const auto chosen = choose("auto");
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->index, 0U);
  EXPECT_EQ(chosen->provider, "cpu");
  EXPECT_TRUE(chosen->notes.empty()) << "idle_gpu_note tells why";
}

TEST_F(FoundRuntimesTest, a_provider_is_taken_from_the_first_that_offers_it) {
  give_gpu();
  machine_.add("/a", kCpuBuild);
  machine_.add("/b", kGpuBuild);
  const auto chosen = choose("cuda");
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->index, 1U);
  ASSERT_EQ(chosen->notes.size(), 1U);
  EXPECT_NE(fakes::text_of(chosen->notes[0]).find("was built without CUDAExecutionProvider"), std::string::npos)
      << fakes::text_of(chosen->notes[0]);
  const auto absent = choose("tensorrt");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::unavailable);
}

TEST_F(FoundRuntimesTest, a_pinned_runtime_is_not_replaced) {
  give_gpu();
  auto& pinned = machine_.add("/a", kCpuBuild);
  pinned.named = pinned.pinned = true;
  machine_.add("/b", kGpuBuild);
  EXPECT_EQ(choose("")->index, 0U);
  EXPECT_EQ(choose("")->provider, "cpu");
  const auto refused = choose("cuda");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("was built without CUDAExecutionProvider"), std::string::npos);
  EXPECT_EQ(machine_.asked, (Lines{"/a", "/a", "/a"}));
}

TEST_F(FoundRuntimesTest, what_the_user_named_and_cannot_be_used_ends_the_run) {
  machine_.add("/a", kCpuBuild);
  machine_.add("/b", tl::unexpected(kCrash)).named = true;
  const auto refused = choose("");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_EQ(refused.error().message, "cannot use the place of /b: the worker died of SIGSEGV");
  EXPECT_EQ(refused.error().hint, "name another, or leave it out");
}

TEST_F(FoundRuntimesTest, without_any_the_places_are_told) {
  auto& python_only = machine_.add("/a", kCpuBuild);
  python_only.problem = schema::messages::foreign("/a: only the Python module of onnxruntime 1.18.1");
  const auto none = choose("");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_EQ(none.error().message,
            "no ONNX Runtime library found; looked in: everywhere; /a: only the Python module of onnxruntime 1.18.1");
  EXPECT_TRUE(machine_.asked.empty());
}

TEST_F(FoundRuntimesTest, an_interrupt_is_no_fault_of_a_runtime) {
  machine_.add("/a", base::fail(ErrorCode::cancelled, "cancelled")).named = true;
  machine_.add("/b", kCpuBuild);
  EXPECT_EQ(choose("").error().code, ErrorCode::cancelled);
}

TEST_F(FoundRuntimesTest, packages_in_conflict_are_told_of_the_runtime_that_is_taken) {
  machine_.add("/a", kCpuBuild).packages = {"onnxruntime 1.32.0", "onnxruntime-gpu 1.31.1"};
  const auto chosen = choose("cpu");
  ASSERT_EQ(chosen->notes.size(), 1U);
  EXPECT_NE(fakes::text_of(chosen->notes[0]).find("overwrote each other's files"), std::string::npos)
      << fakes::text_of(chosen->notes[0]);
}

TEST_F(FoundRuntimesTest, plug_ins_are_asked_one_by_one_and_only_where_they_matter) {
  auto& found = machine_.add("/a", kCpuBuild);
  found.plugins.emplace_back().library_path = "/p";
  found.plugins.emplace_back().library_path = "/q";
  found.plugins.back().package = "onnxruntime-ep-webgpu 0.4.0";
  schema::PluginLibrary offered;
  offered.library_path = "/q";
  offered.offers.emplace_back().ep_name = "WebGpuExecutionProvider";
  machine_.plugin_answers.emplace("/p", tl::unexpected(kCrash));
  machine_.plugin_answers.emplace("/q", offered);
  EXPECT_EQ(fakes::texts_of(choose("")->notes),
            (Lines{"other candidates are available: /p, onnxruntime-ep-webgpu 0.4.0; --provider auto compares them"}));
  EXPECT_EQ(machine_.asked, Lines{"/a"});
  auto runtimes = FoundRuntimes::find(machine_, "onnx", {});
  for (int twice = 0; twice < 2; ++twice) {
    const auto& identity = runtimes->ask_with_plugins(0);
    ASSERT_TRUE(identity);
    ASSERT_EQ(identity->plugins.size(), 2U);
    EXPECT_EQ(fakes::text_of(identity->plugins[0].note->message), "the worker died of SIGSEGV");
    EXPECT_EQ(identity->plugins[1].offers.size(), 1U);
  }
  EXPECT_EQ(machine_.asked, (Lines{"/a", "/a", "/a+/p", "/a+/q"}));
}

TEST_F(FoundRuntimesTest, a_named_plug_in_that_offers_nothing_ends_the_run) {
  schema::RuntimeRequest where;
  where.plugins.emplace_back().library_path = "/p";
  machine_.add("/a", kCpuBuild).plugins = where.plugins;
  auto answer = where.plugins.front();
  answer.note = schema::ProviderNote{
      schema::messages::foreign("needs ONNX Runtime 1.24.4"), {}, schema::messages::foreign("use a newer one"), {}};
  machine_.plugin_answers.emplace("/p", answer);
  auto runtimes = FoundRuntimes::find(machine_, "onnx", where);
  const auto refused = runtimes->check_named_plugins(0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_EQ(refused.error().message, "cannot use --ep-library /p: needs ONNX Runtime 1.24.4");
  EXPECT_EQ(refused.error().hint, "use a newer one");
}

class RuntimeCandidatesTest : public FoundRuntimesTest {
 protected:
  base::Result<RuntimeCandidates> candidates(const schema::RuntimeRequest& where = {}) {
    auto found = FoundRuntimes::find(machine_, "onnx", where);
    EXPECT_TRUE(found);
    auto result = runtime_candidates(*found, environment_);
    if (result)
      for (const auto& one : result->usable) titles_.push_back(one.title(found->all()[one.index]));
    return result;
  }
  Lines titles_;
};

TEST_F(RuntimeCandidatesTest, are_every_provider_and_plug_in_of_every_runtime) {
  give_gpu();
  auto broken = kGpuBuild;
  broken.provider_notes["cuda"] = {
      schema::messages::foreign("libcudart.so.13 is not found"), {}, {}, {"libcudart.so.13"}};
  auto& first = machine_.add("/a", kGpuBuild);
  first.pinned = first.named = true;
  first.plugins.emplace_back().library_path = "/p";
  first.plugins.emplace_back().library_path = "/q";
  machine_.add("/b", broken);
  machine_.add("/c", tl::unexpected(kCrash));
  schema::PluginLibrary offered;
  offered.library_path = "/p";
  offered.offers.push_back({"/p", "", "CUDAExecutionProvider", "1.0", "GPU"});
  offered.offers.push_back({"/p", "", "NobodysExecutionProvider", "1.0", "NPU"});
  machine_.plugin_answers.emplace("/p", offered);
  machine_.plugin_answers.emplace("/q", tl::unexpected(kCrash));
  const auto found = candidates();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(titles_, (Lines{"CPU of ONNX Runtime 1.24.1 at /a", "CUDA of ONNX Runtime 1.24.1 at /a",
                            "CUDA plug-in (GPU) of ONNX Runtime 1.24.1 at /a",
                            "a plug-in (NPU) of ONNX Runtime 1.24.1 at /a", "CPU of ONNX Runtime 1.24.1 at /b"}));
  ASSERT_EQ(found->usable.size(), 5U);
  EXPECT_EQ(found->usable[2].plugin->library_path, "/p");
  EXPECT_FALSE(found->usable[1].plugin);
  EXPECT_EQ(fakes::texts_of(found->passed_over),
            (Lines{"/q with /x: the worker died of SIGSEGV", "CUDA of /x: libcudart.so.13 is not found",
                   "/c: the worker died of SIGSEGV"}));
}

TEST_F(RuntimeCandidatesTest, without_a_gpu_are_those_of_the_cpu) {
  machine_.add("/a", kGpuBuild);
  const auto found = candidates();
  ASSERT_TRUE(found);
  EXPECT_EQ(titles_, Lines{"CPU of ONNX Runtime 1.24.1 at /a"});
  EXPECT_TRUE(found->passed_over.empty()) << "nobody misses a GPU that is not there";
}

TEST_F(RuntimeCandidatesTest, need_a_runtime_for_the_plug_ins_that_the_user_named) {
  schema::RuntimeRequest where;
  where.plugins.emplace_back().library_path = "/p";
  machine_.add("/a", kCpuBuild).plugins = where.plugins;
  machine_.plugin_answers.emplace("/p", tl::unexpected(kCrash));
  const auto refused = candidates(where);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "cannot use --ep-library /p: the worker died of SIGSEGV");
  machine_.add("/b", tl::unexpected(kCrash)).named = true;
  EXPECT_EQ(candidates().error().message, "cannot use the place of /b: the worker died of SIGSEGV");
}

}  // namespace
}  // namespace ridgeline::execute
