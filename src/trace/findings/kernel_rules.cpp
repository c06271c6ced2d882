// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "trace/findings/kernel_tallies.hpp"
#include "trace/findings/rules.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

constexpr double kLeastTail = 0.03;  // of the time

double duration_of(std::int64_t ns) { return static_cast<double>(ns); }

void tell_chains(const Case& of, const KernelTallies& found) {
  of.add_kernels(found.chains,
                 {&messages::advice_fuse_chains, "model = torch.compile(model)", &messages::advice_fuse_chains_onnx,
                  "# ONNX Runtime: ridgeline tune model.onnx --provider auto"},
                 messages::elementwise_chain({.chains = found.chains.count(),
                                              .of = messages::ElementwiseChainOf::kernels,
                                              .time = duration_of(found.chains.time_ns()),
                                              .fused = duration_of(found.chains.time_ns() - found.chains.saving_ns())}),
                 messages::computed_chains(messages::ComputedChainsOf::kernels),
                 found.chains.bytes() > 0
                     ? messages::intermediate_bytes(
                           {.bytes = found.chains.bytes(), .from = messages::IntermediateBytesFrom::counters})
                     : messages::intermediate_bytes_unknown());
}

void tell_attention(const Case& of, const KernelTallies& found) {
  of.add_kernels(
      found.attention,
      {&messages::advice_fused_attention,
       "torch.nn.functional.scaled_dot_product_attention(q, k, v)   # with the mask that the model applies\n"
       "# transformers: AutoModel.from_pretrained(..., attn_implementation=\"sdpa\")",
       &messages::advice_fuse_attention_onnx,
       "# ONNX Runtime: python -m onnxruntime.transformers.optimizer --input model.onnx --output fused.onnx"},
      messages::unfused_attention({.count = found.attention.count(),
                                   .of = messages::UnfusedAttentionOf::kernels,
                                   .time = duration_of(found.attention.time_ns())}),
      messages::computed_attention(), measured_bytes(found.attention));
}

void tell_products(const Case& of, const KernelTallies& found) {
  const Advice tf32{&messages::advice_allow_tf32,
                    "torch.set_float32_matmul_precision(\"high\")\n"
                    "torch.backends.cudnn.allow_tf32 = True\n"
                    "with torch.autocast(\"cuda\", dtype=torch.bfloat16): ...",
                    &messages::advice_allow_tf32, "# ONNX Runtime, CUDA provider: {\"use_tf32\": \"1\"}"};
  const Advice fp16{&messages::advice_run_in_fp16, "with torch.autocast(\"cuda\", dtype=torch.float16): ...",
                    &messages::advice_run_in_fp16,
                    "# ONNX: onnxruntime.transformers.float16.convert_float_to_float16(model, keep_io_types=True)"};
  const Advice half{&messages::advice_run_in_half, "with torch.autocast(\"cuda\", dtype=torch.bfloat16): ...",
                    &messages::advice_run_in_half, fp16.onnx_snippet};
  const auto add = [&](const Tally& products, const Advice& advice, schema::Message computed) {
    of.add_kernels(products, advice,
                   messages::fp32_gemm({.time = duration_of(products.time_ns()), .launches = products.count()}),
                   std::move(computed));
  };
  add(found.tf32_products, tf32, messages::computed_tf32());
  add(found.half_products, half, messages::computed_half());
  add(found.fp16_products, fp16, messages::computed_fp16());
}

void tell_layouts(const Case& of, const KernelTallies& found) {
  of.add_kernels(found.layouts,
                 {&messages::advice_keep_layout,
                  "model = model.to(memory_format=torch.channels_last)\n"
                  "x = x.to(memory_format=torch.channels_last)",
                  &messages::advice_keep_layout, "# ONNX Runtime, CUDA provider: {\"prefer_nhwc\": \"1\"}"},
                 messages::layout({.of = messages::LayoutOf::kernels,
                                   .time = duration_of(found.layouts.time_ns()),
                                   .count = found.layouts.count()}),
                 messages::computed_time(), measured_bytes(found.layouts));
}

void tell_few_blocks(const Case& of, const KernelTallies& found) {
  of.add_kernels(
      found.few_blocks,
      {&messages::advice_more_at_once,
       "DataLoader(dataset, batch_size=2 * batch_size)\n"
       "with torch.cuda.stream(side): branch = independent(x)",
       &messages::advice_larger_batch, "# ONNX Runtime: session.run with several inputs stacked along the batch axis"},
      messages::few_blocks({.time = duration_of(found.few_blocks.time_ns()), .launches = found.few_blocks.count()}),
      messages::computed_few_blocks(), {}, kLeastTail);
}

void tell_partial_waves(const Case& of, const KernelTallies& found) {
  of.add_kernels(found.partial_waves,
                 {&messages::advice_full_wave,
                  "model = torch.compile(model, mode=\"max-autotune\")   # tries tiles",
                  &messages::advice_full_wave_onnx,
                  {}},
                 messages::partial_wave(
                     {.time = duration_of(found.partial_waves.time_ns()), .launches = found.partial_waves.count()}),
                 messages::computed_partial_wave(), {}, kLeastTail);
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
