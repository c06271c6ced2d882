// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/cuda_libraries.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "host/this_process.hpp"
#include "unit/workload/temp_folder.hpp"
#include "workload/onnx/elf_file.hpp"
#include "workload/onnx/gpu_library_names.hpp"
#include "workload/onnx/loaded_gpu_libraries.hpp"
#include "workload/onnx/ort_library.hpp"

namespace ridgeline::workload {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

const fs::path kFakes = RL_TEST_GPU_LIBRARIES;

schema::Message said(const char* text) { return schema::messages::foreign(text); }

class CudaLibraries : public ::testing::Test {
 protected:
  CudaLibraries() {
    environment_.executable = folder_ / "app/bin/ridgeline";
    environment_.virtual_env = (folder_ / "venv").string();
    environment_.cuda_parent = folder_ / "local";
  }
  fs::path copy(const std::string& fake, const std::string& to) const {
    fs::create_directories((folder_ / to).parent_path());
    fs::copy_file(kFakes / fake, folder_ / to);
    return folder_ / to;
  }
  ProviderLibraries prepare(const fs::path& provider) const {
    auto libraries = prepare_provider_libraries(provider, environment_);
    EXPECT_TRUE(libraries) << libraries.error().message;
    return libraries.value_or(ProviderLibraries{});
  }
  static const OpenedLibrary* opened(const ProviderLibraries& libraries, const std::string& soname) {
    for (const auto& library : libraries.opened)
      if (library.soname == soname) return &library;
    return nullptr;
  }
  static std::string line_of(const ProviderLibraries& libraries, const std::string& soname) {
    for (const auto& library : libraries.missing)
      if (library.soname == soname)
        return base::error_line(fakes::text_of(library.problem) + "; looked in: " + fakes::text_of(library.looked_in),
                                fakes::text_of(library.hint));
    return "";
  }

  TempFolder folder_;
  OrtSearchEnvironment environment_;
};

// One process may run all cases, and a library once open answers for its soname, so what is opened is tested in one.
TEST_F(CudaLibraries, of_a_python_environment_and_a_toolkit_are_opened_in_the_order_they_need_each_other) {
  const auto provider = copy("libprovider.so", "ort/libonnxruntime_providers_cuda.so");
  ASSERT_EQ(::dlopen(provider.c_str(), RTLD_NOW), nullptr) << "the loader finds the libraries by itself";
  const std::string packages = "venv/lib/python3.12/site-packages/nvidia/";
  folder_.write(packages + "cuda_runtime/lib/libcudart.so.991", "a damaged file");
  const auto cudart = copy("libcudart.so.991.2.3", packages + "cu13/lib/libcudart.so.991");
  const auto cublas = copy("libcublas.so.991.2.3", packages + "cublas/lib/libcublas.so.991");
  copy("libcublasLt.so.991.2.3", "local/cuda-13.0/targets/x86_64-linux/lib/libcublasLt.so.991.2.3");
  fs::create_symlink("libcublasLt.so.991.2.3", folder_ / "local/cuda-13.0/targets/x86_64-linux/lib/libcublasLt.so.991");

  const auto libraries = prepare(provider);
  const auto* runtime = opened(libraries, "libcudart.so.991");
  const auto* lt = opened(libraries, "libcublasLt.so.991");
  const auto* blas = opened(libraries, "libcublas.so.991");
  ASSERT_NE(runtime, nullptr);
  ASSERT_NE(lt, nullptr);
  ASSERT_NE(blas, nullptr);
  EXPECT_LT(lt, blas);
  EXPECT_EQ(runtime->path, cudart);
  EXPECT_EQ(blas->path, cublas);
  EXPECT_EQ(fakes::text_of(runtime->where).find("Python environment VIRTUAL_ENV=" + environment_.virtual_env), 0U);
  EXPECT_EQ(fakes::text_of(lt->where), (folder_ / "local/cuda*").string());

  const auto tensorrt = prepare(copy("libprovider.so", "ort/libonnxruntime_providers_tensorrt.so"));
  ASSERT_NE(opened(tensorrt, "libcublas.so.991"), nullptr);
  EXPECT_EQ(opened(tensorrt, "libcublas.so.991")->where, blas->where);  // not "the loader", which has it by now

  void* handle = ::dlopen(provider.c_str(), RTLD_NOW);
  ASSERT_NE(handle, nullptr) << ::dlerror();
  const auto run = reinterpret_cast<int (*)()>(::dlsym(handle, "rl_fake_provider"));
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run(), 13020 + 21);

  std::map<std::string, std::string> versions;
  for (const auto& library : loaded_gpu_libraries())
    if (library.path.string().find(folder_.path().string()) == 0) versions[library.name] = library.version;
  EXPECT_EQ(versions["libcudart.so"], "13.2");       // asked
  EXPECT_EQ(versions["libcublas.so"], "13.1.4");     // asked
  EXPECT_EQ(versions["libcublasLt.so"], "991.2.3");  // the name of the file behind the link
}

TEST_F(CudaLibraries, one_that_is_nowhere_is_explained_on_one_line) {
  environment_.ld_library_path = "/opt/old";
  fs::create_directories(folder_ / "venv/lib/python3.12/site-packages");
  const auto libraries = prepare(copy("libprovider_without_curand.so", "x/libonnxruntime_providers_cuda.so"));
  const auto line = line_of(libraries, "libcurand.so.991");
  for (const std::string& part :
       {std::string("libcurand.so.991 (needed by libonnxruntime_providers_cuda.so) is not found"),
        std::string("LD_LIBRARY_PATH /opt/old"), "next to the provider (" + (folder_ / "x").string() + ")",
        "VIRTUAL_ENV=" + environment_.virtual_env + " (nvidia/*/lib, tensorrt_libs) (no such folder)",
        (folder_ / "local/cuda*").string(), std::string("pip install nvidia-curand")})
    EXPECT_NE(line.find(part), std::string::npos) << part << "\n" << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
  ASSERT_FALSE(libraries.usable());
  EXPECT_EQ(libraries.usable().error().code, ErrorCode::unavailable);
}

TEST_F(CudaLibraries, one_that_does_not_load_is_told_from_one_that_is_absent) {
  const auto provider = copy("libprovider_without_curand.so", "ort/libonnxruntime_providers_cuda.so");
  folder_.write("ort/libcurand.so.991", "not a library");
  const auto line = line_of(prepare(provider), "libcurand.so.991");
  EXPECT_NE(line.find("does not load"), std::string::npos) << line;
  EXPECT_NE(line.find((folder_ / "ort/libcurand.so.991").string()), std::string::npos) << line;
}

TEST_F(CudaLibraries, a_provider_linked_to_a_cudnn_is_asked_for_no_other) {
  const auto provider = copy("libprovider_with_cudnn.so", "ort/libonnxruntime_providers_cuda.so");
  const auto cudnn = copy("libcudnn.so.991.2.3", "ort/libcudnn.so.991");
  const auto libraries = prepare(provider);
  ASSERT_NE(opened(libraries, "libcudnn.so.991"), nullptr);
  EXPECT_EQ(opened(libraries, "libcudnn.so.9"), nullptr);
  EXPECT_EQ(line_of(libraries, "libcudnn.so.9"), "");
  EXPECT_TRUE(libraries.usable()) << libraries.usable().error().message;
  EXPECT_EQ(loaded_library(cudnn).version, "8.9.7");
}

TEST_F(CudaLibraries, absent_optional_ones_do_not_make_the_provider_unusable) {
  ProviderLibraries libraries;
  libraries.missing.push_back({"libcufft.so.12", said("no cuFFT"), {}, {}, false});
  EXPECT_TRUE(libraries.usable());
  libraries.missing.push_back({"libcudnn.so.9", said("no cuDNN"), said("/a"), said("get it"), true});
  ASSERT_FALSE(libraries.usable());
  EXPECT_EQ(base::error_line(libraries.usable().error()), "no cuDNN; looked in: /a; get it");
}

TEST_F(CudaLibraries, an_absent_driver_is_named_before_all_else) {
  ProviderLibraries libraries;
  libraries.missing = {{"libcublas.so.13", said("no cuBLAS"), said("/a"), said("get it"), true},
                       {"libcuda.so.1", said("no driver"), {}, {}, true}};
  ASSERT_FALSE(libraries.usable());
  EXPECT_EQ(libraries.usable().error().message, "no driver; missing as well: libcublas.so.13");
}

TEST_F(CudaLibraries, a_provider_that_is_not_beside_the_core_is_named_with_the_fix) {
  const auto core = folder_.write("ort/libonnxruntime.so.1", "x");
  const auto file = provider_file(core, schema::provider_of("cuda"));
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find((folder_ / "ort/libonnxruntime_providers_cuda.so").string()), std::string::npos);
  EXPECT_NE(file.error().hint.find("fetch_onnxruntime.sh --gpu"), std::string::npos);
  folder_.write("ort/libonnxruntime_providers_cuda.so", "x");
  EXPECT_NE(provider_file(core, schema::provider_of("cuda")).error().message.find("providers_shared.so"),
            std::string::npos);
  folder_.write("ort/libonnxruntime_providers_shared.so", "x");
  EXPECT_TRUE(provider_file(core, schema::provider_of("cuda")));
}

TEST_F(CudaLibraries, a_file_that_is_no_library_is_refused) {
  const auto file = folder_.write("libonnxruntime_providers_cuda.so", "text");
  const auto libraries = prepare_provider_libraries(file, environment_);
  ASSERT_FALSE(libraries);
  EXPECT_EQ(libraries.error().code, ErrorCode::unavailable);
}

TEST_F(CudaLibraries, the_places_hold_both_layouts_of_the_wheels_and_conda) {
  environment_.conda_prefix = (folder_ / "conda").string();
  environment_.cuda_home = (folder_ / "toolkit").string();
  for (const auto* folder :
       {"venv/lib/python3.12/site-packages/nvidia/cudnn/lib", "venv/lib/python3.12/site-packages/nvidia/cu13/lib",
        "venv/lib/python3.12/site-packages/tensorrt_libs", "venv/local/lib/python3.11/dist-packages/nvidia/cublas/lib",
        "conda/lib/python3.12", "toolkit/lib64", "local/cuda-12.8/lib64", "local/cuda-13.0/lib64"})
    fs::create_directories(folder_ / folder);
  std::vector<std::string> folders;
  for (const auto& place : gpu_library_places(folder_ / "ort/p.so", environment_))
    for (const auto& folder : place.folders) folders.push_back(fs::relative(folder, folder_.path()).string());
  std::sort(folders.begin() + 1, folders.begin() + 3);  // packages of one folder: in no promised order
  EXPECT_EQ(folders, (std::vector<std::string>{"ort", "venv/lib/python3.12/site-packages/nvidia/cu13/lib",
                                               "venv/lib/python3.12/site-packages/nvidia/cudnn/lib",
                                               "venv/lib/python3.12/site-packages/tensorrt_libs",
                                               "venv/local/lib/python3.11/dist-packages/nvidia/cublas/lib", "conda/lib",
                                               "toolkit/lib64", "local/cuda-13.0/lib64", "local/cuda-12.8/lib64"}));
}

TEST(ElfFile, names_are_read_without_loading) {
  const auto dynamic = read_elf_dynamic(kFakes / "libcublas.so.991.2.3");
  ASSERT_TRUE(dynamic) << dynamic.error().message;
  EXPECT_EQ(dynamic->soname, "libcublas.so.991");
  EXPECT_NE(std::find(dynamic->needed.begin(), dynamic->needed.end(), "libcublasLt.so.991"), dynamic->needed.end());
}

TEST(TensorrtProvider, without_tensorrt_names_the_file_and_the_fix) {
  const char* capi = std::getenv("RIDGELINE_TEST_GPU_CAPI");
  if (capi == nullptr)
    GTEST_SKIP()
        << "RIDGELINE_TEST_GPU_CAPI names no folder of onnxruntime-gpu: scripts/test_tensorrt_message.sh FOLDER";
  const auto library = OrtLibrary::open(capi, OrtSearchEnvironment());
  ASSERT_TRUE(library) << library.error().message;
  const auto identity = library->identity(OrtSearchEnvironment());
  ASSERT_TRUE(identity) << identity.error().message;
  const auto* note = identity->why_not(*schema::find_provider("tensorrt"));
  ASSERT_NE(note, nullptr);
  EXPECT_NE(fakes::text_of(note->reason())
                .find("libnvinfer.so.10 (needed by libonnxruntime_providers_tensorrt.so) is not found"),
            std::string::npos)
      << fakes::text_of(note->reason());
  EXPECT_EQ(fakes::text_of(note->reason()).find('\n'), std::string::npos);
  EXPECT_NE(fakes::text_of(note->hint).find("pip install --extra-index-url https://pypi.nvidia.com tensorrt-cu13"),
            std::string::npos)
      << fakes::text_of(note->hint);
}

TEST(ElfFile, a_file_cut_short_anywhere_is_refused_or_read_but_never_harms) {
  const TempFolder folder;
  std::ifstream stream(kFakes / "libcublas.so.991.2.3", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  const auto whole = read_elf_dynamic(kFakes / "libcublas.so.991.2.3").value().needed;
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    const auto dynamic = read_elf_dynamic(folder.write("cut.so", bytes.substr(0, size)));
    if (dynamic) {
      EXPECT_EQ(dynamic->needed, whole) << size;
    } else {
      EXPECT_EQ(dynamic.error().code, ErrorCode::corrupt);
    }
  }
  EXPECT_EQ(read_elf_dynamic(folder / "absent.so").error().code, ErrorCode::not_found);
}

TEST(GpuLibraryNames, belong_to_nvidia_and_to_packages) {
  for (const auto* name : {"libcudart.so.13", "libcublasLt.so.13.1.0.3", "libcudnn_graph.so.9", "libnvinfer.so.10",
                           "libnvrtc-builtins.so.13.0", "libcuda.so.1", "libnvidia-ml.so.1"})
    EXPECT_TRUE(is_gpu_library(name)) << name;
  for (const auto* name : {"libc.so.6", "libcurl.so.4", "libcudart", "libm.so.6", "libnuma.so.1"})
    EXPECT_FALSE(is_gpu_library(name)) << name;
  EXPECT_TRUE(is_driver_library("libcuda.so.1"));
  EXPECT_FALSE(is_driver_library("libcudart.so.13"));
  EXPECT_EQ(python_package_of("libcudnn.so.9", 13), "nvidia-cudnn-cu13");
  EXPECT_EQ(python_package_of("libcublasLt.so.13", 13), "nvidia-cublas");
  EXPECT_EQ(python_package_of("libcublas.so.12", 12), "nvidia-cublas-cu12");
  EXPECT_EQ(python_package_of("libnvinfer.so.10", 13), "tensorrt-cu13");
  EXPECT_EQ(python_package_of("libcuda.so.1", 13), "");
  EXPECT_EQ(python_package_of("libcudnn.so.8", 12), "nvidia-cudnn-cu12~=8.9");
  EXPECT_EQ(major_version("libcudart.so.13"), 13);
  EXPECT_EQ(major_version("libcudart.so"), 0);
}

TEST(GpuLibraryNames, cudnn_9_is_opened_at_run_time_unless_the_provider_is_linked_to_a_cudnn) {
  const auto cudnn = [](std::string_view provider, const std::vector<std::string>& needed) {
    std::string found;
    for (const auto& library : libraries_opened_at_run_time(schema::provider_of(provider), 12, needed))
      if (library.soname.rfind("libcudnn", 0) == 0) found += library.soname + (library.required ? "!" : "");
    return found;
  };
  EXPECT_EQ(cudnn("cuda", {"libcudart.so.12", "libcublas.so.12"}), "libcudnn.so.9!");
  EXPECT_EQ(cudnn("tensorrt", {"libnvinfer.so.10"}), "libcudnn.so.9");
  EXPECT_EQ(cudnn("cuda", {"libcudart.so.12", "libcudnn.so.8"}), "");
}

TEST(LoadedGpuLibraries, are_found_in_a_memory_map_each_once) {
  const auto files = gpu_libraries_among(
      host::files_of_maps("7f00-7f01 r-xp 00000000 08:01 1  /usr/lib/libcuda.so.580.95.05\n"
                          "7f01-7f02 r--p 00001000 08:01 1  /usr/lib/libcuda.so.580.95.05\n"
                          "7f02-7f03 r-xp 00000000 08:01 2  /usr/lib/libc.so.6\n"
                          "7f03-7f04 rw-p 00000000 00:00 0  [heap]\n"
                          "7f04-7f05 r-xp 00000000 08:01 3  /a folder/libonnxruntime_providers_cuda.so\n"
                          "7f05-7f06 rw-s 00000000 00:05 4  /dev/nvidiactl\n"));
  EXPECT_EQ(files,
            (std::vector<fs::path>{"/a folder/libonnxruntime_providers_cuda.so", "/usr/lib/libcuda.so.580.95.05"}));
  EXPECT_EQ(loaded_library("/usr/lib/libcuda.so.580.95.05").version, "580.95.05");
  EXPECT_EQ(describe({{"libcuda.so", "/x/libcuda.so.1", "580"}, {"liba.so", "/x/liba.so", ""}}),
            (std::vector<std::string>{"/x/libcuda.so.1 (580)", "/x/liba.so"}));
}

}  // namespace
}  // namespace ridgeline::workload
