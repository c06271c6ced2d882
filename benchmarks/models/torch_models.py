# SPDX-License-Identifier: Apache-2.0
"""Five models with random weights for `ridgeline tune --python benchmarks/models/torch_models.py:swin_tiny` and benchmarks/torch_loop.py.
Needs torchvision and, for two of them, transformers; fetches nothing. On the GPU where there is one."""
import torch
import torchvision

try:
    from transformers import SegformerConfig, SegformerForSemanticSegmentation, WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder
except ImportError:  # the models of torchvision do without
    pass


def _made(build, *shape):
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return build().eval().to(device), torch.randn(*shape, device=device)


def _normalized(model):
    """With the statistics of its random weights: without, activations of a deep network vanish, and FP16 with them. On the CPU, where
    they are the same in every process. What pools a whole image hardly differs between random images, and to divide by so little would
    amplify rounding a hundred times: such a layer keeps the statistics of a new one."""
    norms = [part for part in model.modules() if isinstance(part, torch.nn.BatchNorm2d)]
    if norms:
        before, pooled = [part.momentum for part in norms], set()
        hooks = [part.register_forward_pre_hook(lambda part, inputs: pooled.add(part) if inputs[0][0, 0].numel() == 1 else None)
                 for part in norms]
        for part in norms:
            part.momentum = 1.0
        with torch.no_grad():
            model.train()(torch.randn(4, 3, 128, 128))
        for part, momentum, hook in zip(norms, before, hooks):
            part.momentum = momentum
            hook.remove()
            if part in pooled:
                part.reset_running_stats()
    return model


def _torchvision(name, size):
    return _made(lambda: _normalized(getattr(torchvision.models, name)(weights=None)), 1, 3, size, size)


def convnext_tiny():
    return _torchvision("convnext_tiny", 224)


def swin_tiny():
    return _torchvision("swin_t", 224)


def efficientnet_v2_s():
    return _torchvision("efficientnet_v2_s", 384)


def whisper_tiny_encoder():
    sizes = dict(d_model=384, encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536, num_mel_bins=80)
    return _made(lambda: WhisperEncoder(WhisperConfig(max_source_positions=1500, **sizes)), 1, 80, 3000)


def segformer_b0():
    # The defaults of the configuration are those of B0.
    return _made(lambda: SegformerForSemanticSegmentation(SegformerConfig(num_labels=150)), 1, 3, 512, 512)
