// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "trace/findings/kernel_tallies.hpp"
#include "trace/findings/rules.hpp"

namespace ridgeline::trace {
namespace {

constexpr double kLeastTail = 0.03;  // of the time

std::string launches(const Tally& tally) { return base::counted(tally.count(), "launch"); }

std::string measured_bytes(const Tally& tally) {
  return tally.bytes() > 0 ? fmt::format("{} read and written by them, measured", base::format_bytes(tally.bytes()))
                           : std::string();
}

void tell_chains(const Case& of, const KernelTallies& found) {
  of.add(found.chains,
         {"elementwise-chain",
          "the chains' time, less that of each one's longest kernel, which a fused kernel takes about",
          "Fuse them: torch.compile writes one kernel for such a chain.", "model = torch.compile(model)",
          "Let a provider that compiles the graph fuse them (TensorRT); tune says which is fastest.",
          "# ONNX Runtime: ridgeline tune model.onnx --provider auto"},
         fmt::format("{} of elementwise kernels, {}; fused, about {}", base::counted(found.chains.count(), "chain"),
                     duration_text(found.chains.time_ns()),
                     duration_text(found.chains.time_ns() - found.chains.saving_ns())),
         found.chains.bytes() > 0
             ? fmt::format("{} of intermediate results, measured", base::format_bytes(found.chains.bytes()))
             : "bytes of intermediate results: not measured; a CSV of Nsight Compute beside the trace has them");
}

void tell_attention(const Case& of, const KernelTallies& found) {
  of.add(found.attention,
         {"unfused-attention",
          "softmax and elementwise kernels between the two GEMMs: a fused attention never writes that matrix",
          "Use the fused attention.",
          "torch.nn.functional.scaled_dot_product_attention(q, k, v)   # with the mask that the model applies\n"
          "# transformers: AutoModel.from_pretrained(..., attn_implementation=\"sdpa\")",
          "Let ONNX Runtime's transformer optimizer fuse it.",
          "# ONNX Runtime: python -m onnxruntime.transformers.optimizer --input model.onnx --output fused.onnx"},
         fmt::format("{}, {} between the two GEMMs", base::counted(found.attention.count(), "unfused attention"),
                     duration_text(found.attention.time_ns())),
         measured_bytes(found.attention));
}

void tell_products(const Case& of, const KernelTallies& found) {
  const Advice tf32{"fp32-gemm",
                    "half of their time: what TF32 saves at least where its peak is twice that of FP32 or more",
                    "Allow TF32, or run in half precision; the outputs change by rounding, so check them.",
                    "torch.set_float32_matmul_precision(\"high\")\n"
                    "torch.backends.cudnn.allow_tf32 = True\n"
                    "with torch.autocast(\"cuda\", dtype=torch.bfloat16): ...",
                    "Allow TF32, or run in half precision; the outputs change by rounding, so check them.",
                    "# ONNX Runtime, CUDA provider: {\"use_tf32\": \"1\"}"};
  const Advice fp16{"fp32-gemm",
                    "half of their time: what FP16 saves at least, which has half the bytes",
                    "Run in FP16, as this GPU has no TF32; the outputs change by rounding, so check them.",
                    "with torch.autocast(\"cuda\", dtype=torch.float16): ...",
                    "Run in FP16, as this GPU has no TF32; the outputs change by rounding, so check them.",
                    "# ONNX: onnxruntime.transformers.float16.convert_float_to_float16(model, keep_io_types=True)"};
  const Advice half{"fp32-gemm",
                    "half of their time: what half precision saves at least, whose peak is twice that of FP32",
                    "Run in half precision, as TF32 is no faster than FP32 on a GeForce; the outputs change by "
                    "rounding, so check them.",
                    "with torch.autocast(\"cuda\", dtype=torch.bfloat16): ...",
                    "Run in half precision, as TF32 is no faster than FP32 on a GeForce; the outputs change by "
                    "rounding, so check them.",
                    fp16.onnx_code};
  const auto add = [&](const Tally& products, const Advice& advice) {
    of.add(products, advice,
           fmt::format("GEMMs and convolutions in FP32 without tensor cores, {} in {}",
                       duration_text(products.time_ns()), launches(products)));
  };
  add(found.tf32_products, tf32);
  add(found.half_products, half);
  add(found.fp16_products, fp16);
}

void tell_layouts(const Case& of, const KernelTallies& found) {
  of.add(
      found.layouts,
      {"layout", "their time", "Keep tensors in the layout that convolutions want.",
       "model = model.to(memory_format=torch.channels_last)\n"
       "x = x.to(memory_format=torch.channels_last)",
       "Keep tensors in the layout that convolutions want.", "# ONNX Runtime, CUDA provider: {\"prefer_nhwc\": \"1\"}"},
      fmt::format("kernels that only change the layout of tensors, {} in {}", duration_text(found.layouts.time_ns()),
                  launches(found.layouts)),
      measured_bytes(found.layouts));
}

void tell_few_blocks(const Case& of, const KernelTallies& found) {
  of.add(found.few_blocks,
         {"few-blocks", "at most: their time, times the share of multiprocessors without a block",
          "Give the GPU more at once: a larger batch, or independent work on another stream.",
          "DataLoader(dataset, batch_size=2 * batch_size)\n"
          "with torch.cuda.stream(side): branch = independent(x)",
          "Give the GPU more at once: a larger batch.",
          "# ONNX Runtime: session.run with several inputs stacked along the batch axis"},
         fmt::format("fewer blocks than the GPU has multiprocessors, {} in {}",
                     duration_text(found.few_blocks.time_ns()), launches(found.few_blocks)),
         {}, kLeastTail);
}

void tell_partial_waves(const Case& of, const KernelTallies& found) {
  of.add(found.partial_waves,
         {"partial-wave",
          "at most: their time, times the share of the waves' places that the last wave leaves free",
          "Let the last wave be full: other tiles, or a batch or sequence length that fills it.",
          "model = torch.compile(model, mode=\"max-autotune\")   # tries tiles",
          "Let the last wave be full: a batch or sequence length that fills it.",
          {}},
         fmt::format("a last wave of blocks that does not fill the GPU, {} in {}",
                     duration_text(found.partial_waves.time_ns()), launches(found.partial_waves)),
         {}, kLeastTail);
}

}  // namespace

void kernel_rules(const Case& of) {
  const auto found = tally_kernels(of);
  tell_chains(of, found);
  tell_attention(of, found);
  tell_products(of, found);
  tell_layouts(of, found);
  tell_few_blocks(of, found);
  tell_partial_waves(of, found);
}

}  // namespace ridgeline::trace
