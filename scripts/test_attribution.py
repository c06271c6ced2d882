# SPDX-License-Identifier: Apache-2.0
"""What test_attribution.sh needs of Python: RT-DETR as an ONNX file, and what ONNX Runtime's own profile says."""
import json
import sys


def export(exporter, path):
    """RT-DETR of transformers, small and with random weights; `exporter`: torchscript or dynamo."""
    import torch
    from transformers import RTDetrConfig, RTDetrForObjectDetection, RTDetrResNetConfig

    torch.manual_seed(0)
    backbone = RTDetrResNetConfig(embedding_size=16, hidden_sizes=[64, 128, 256, 512], depths=[2, 2, 2, 2],
                                  layer_type="bottleneck", out_features=["stage2", "stage3", "stage4"])
    config = RTDetrConfig(backbone_config=backbone, encoder_in_channels=[128, 256, 512], encoder_hidden_dim=64,
                          encoder_ffn_dim=128, d_model=64, num_queries=50, decoder_layers=3, decoder_ffn_dim=128,
                          decoder_in_channels=[64, 64, 64], feat_strides=[8, 16, 32], num_labels=80)

    class Detector(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.detector = RTDetrForObjectDetection(config)

        def forward(self, pixels):
            found = self.detector(pixel_values=pixels)
            return found.logits, found.pred_boxes

    with torch.no_grad():
        torch.onnx.export(Detector().eval(), (torch.randn(1, 3, 320, 320),), path, input_names=["pixels"],
                          dynamo=exporter == "dynamo", opset_version=18 if exporter == "dynamo" else 17)


def raw(model):
    """Share of the time by the first part of nodes' names, where these are paths, as JSON."""
    import numpy
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = model + ".profile"
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    inputs = {one.name: numpy.zeros([side if isinstance(side, int) else (1, 3, 320, 320)[axis]
                                     for axis, side in enumerate(one.shape)], numpy.float32)
              for one in session.get_inputs()}
    for _ in range(30):
        session.run(None, inputs)
    times = {}
    for event in json.load(open(session.end_profiling())):
        name = event.get("name", "").removesuffix("_kernel_time")
        if event.get("cat") == "Node" and name != event["name"] and name.count("/") > 1:
            top = name.split("/")[1]
            times[top] = times.get(top, 0) + event["dur"]
    whole = sum(times.values())
    print(json.dumps({top: time / whole for top, time in times.items()}))


def compare(raw_file, ours_file):
    """Exits with a line where a share differs from the raw profile's by more than 10 points, as the machine is uneven and the
    runtime's own work between small nodes is the nodes' here."""
    expected, ours = json.load(open(raw_file)), json.load(open(ours_file))
    for top in sorted(set(expected) | set(ours)):
        if abs(expected.get(top, 0) - ours.get(top, 0)) > 0.1:
            sys.exit(f"{top}: {ours.get(top, 0):.3f} of the time, {expected.get(top, 0):.3f} in ONNX Runtime's profile")


if __name__ == "__main__":
    {"export": export, "raw": raw, "compare": compare}[sys.argv[1]](*sys.argv[2:])
