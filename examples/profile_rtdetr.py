# SPDX-License-Identifier: Apache-2.0
"""Object detection with RT-DETR (R50) on one image of 640 x 640, again and again, as a service does; docs/rtdetr.md profiles it. The
weights are random, which changes no time; with downloaded ones: RTDetrForObjectDetection.from_pretrained("PekingU/rtdetr_r50vd").

    profile_rtdetr.py [--precision fp32|tf32|bf16] [--compile] [--images 200]"""
import argparse
import statistics
import time

import torch
from transformers import RTDetrConfig, RTDetrForObjectDetection

parser = argparse.ArgumentParser()
parser.add_argument("--precision", choices=["fp32", "tf32", "bf16"], default="fp32")
parser.add_argument("--compile", action="store_true", help="fused kernels, launched as CUDA graphs")
parser.add_argument("--images", type=int, default=200)
options = parser.parse_args()

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
detector = RTDetrForObjectDetection(RTDetrConfig(num_labels=80)).eval().to(device)
image = torch.randn(1, 3, 640, 640, device=device)
if options.compile:
    detector = torch.compile(detector, mode="reduce-overhead")
if options.precision != "fp32":
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = True


@torch.inference_mode()
def detect():
    with torch.autocast(device, dtype=torch.bfloat16, enabled=options.precision == "bf16"):
        return detector(pixel_values=image).logits


for _ in range(10):
    detect().cpu()
times = []
for _ in range(options.images):
    begin = time.perf_counter()
    detect().cpu()  # the result, on the host
    times.append((time.perf_counter() - begin) * 1e3)
print("%.2f ms per image, median of %d" % (statistics.median(times), len(times)))
