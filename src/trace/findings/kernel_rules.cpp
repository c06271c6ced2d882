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

schema::Message fused_bytes(const Case& of, const FusableRuns& runs) {
  if (runs.tally.bytes() > 0)
    return messages::intermediate_bytes(
        {.bytes = runs.tally.bytes(), .from = messages::IntermediateBytesFrom::counters});
  return of.analysed.trace.of_recorder ? messages::intermediate_bytes_not_counted()
                                       : messages::intermediate_bytes_unknown();
}

/// By measured bytes if most of the saving follows from them; else `by_time`.
schema::Message how_computed(const FusableRuns& runs, schema::Message by_time) {
  if (runs.measured_saving_ns * 2 <= runs.tally.saving_ns()) return by_time;
  return messages::computed_fused_bytes({.gb_per_s = runs.measured_bytes / duration_of(runs.measured_ns),
                                         .partly = runs.measured_ns < runs.tally.time_ns()});
}

void tell_chains(const Case& of, const KernelTallies& found) {
  const auto& chains = found.chains.tally;
  of.add_kernels(chains,
                 {&messages::advice_fuse_chains, "model = torch.compile(model)", &messages::advice_fuse_chains_onnx,
                  "# ONNX Runtime: options.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL\n"
                  "# and the fastest provider: ridgeline tune model.onnx --provider auto"},
                 messages::elementwise_chain({.chains = chains.count(),
                                              .of = messages::ElementwiseChainOf::kernels,
                                              .time = duration_of(chains.time_ns()),
                                              .fused = duration_of(chains.time_ns() - chains.saving_ns())}),
                 how_computed(found.chains, messages::computed_chains(messages::ComputedChainsOf::kernels)),
                 fused_bytes(of, found.chains));
}

void tell_memory_bound(const Case& of, const KernelTallies& found) {
  const auto& runs = found.reduced.tally;
  of.add_kernels(
      runs,
      {&messages::advice_fuse_reductions,
       "y = torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)   # layer_norm, cross_entropy likewise\n"
       "module = torch.compile(module)   # if there is none",
       &messages::advice_fuse_chains_onnx,
       "# ONNX Runtime: python -m onnxruntime.transformers.optimizer --input model.onnx --output fused.onnx"},
      messages::memory_bound({.runs = runs.count(),
                              .time = duration_of(runs.time_ns()),
                              .fused = duration_of(runs.time_ns() - runs.saving_ns())}),
      how_computed(found.reduced, messages::computed_reductions()), fused_bytes(of, found.reduced));
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
  const auto& known = found.fp32_activity;
  const auto activity =
      known.known_ns > 0 ? messages::tensor_activity(known.active_ns / known.known_ns) : schema::Message();
  const auto add = [&](const Tally& products, const Advice& advice, schema::Message computed) {
    of.add_kernels(products, advice,
                   messages::fp32_gemm({.time = duration_of(products.time_ns()), .launches = products.count()}),
                   std::move(computed), activity);
  };
  add(found.tf32_products, tf32, messages::computed_tf32());
  add(found.fast_tf32_products, tf32, messages::computed_fast_tf32());
  add(found.half_products, half, messages::computed_half());
  add(found.fp16_products, fp16, messages::computed_fp16());
}

void tell_half_precision(const Case& of, const KernelTallies& found) {
  const auto& products = found.products_in_tf32;
  of.add_kernels(products,
                 {&messages::advice_half_precision, "with torch.autocast(\"cuda\", dtype=torch.bfloat16): ...",
                  &messages::advice_half_precision,
                  "# ONNX: onnxruntime.transformers.float16.convert_float_to_float16(model, keep_io_types=True)"},
                 messages::half_precision({.time = duration_of(products.time_ns()), .launches = products.count()}),
                 messages::computed_half_of_tf32());
}

void tell_layouts(const Case& of, const KernelTallies& found) {
  const auto add = [&](const Tally& layouts, const Advice& advice) {
    of.add_kernels(
        layouts, advice,
        messages::layout(
            {.of = messages::LayoutOf::kernels, .time = duration_of(layouts.time_ns()), .count = layouts.count()}),
        messages::computed_time(), measured_bytes(layouts));
  };
  add(found.layouts, {&messages::advice_keep_layout,
                      "model = model.to(memory_format=torch.channels_last)\n"
                      "x = x.to(memory_format=torch.channels_last)",
                      &messages::advice_keep_layout, "# ONNX Runtime, CUDA provider: {\"prefer_nhwc\": \"1\"}"});
  add(found.strided_copies,
      {&messages::advice_keep_views, "y = x.transpose(1, 2)   # a view; .contiguous() and .reshape() of it copy",
       &messages::advice_layout_of_nodes,
       "# ONNX Runtime: options.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL"});
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
  tell_memory_bound(of, found);
  tell_attention(of, found);
  tell_products(of, found);
  tell_half_precision(of, found);
  tell_layouts(of, found);
  tell_few_blocks(of, found);
  tell_partial_waves(of, found);
}

}  // namespace ridgeline::trace
