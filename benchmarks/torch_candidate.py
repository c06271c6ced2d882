# SPDX-License-Identifier: Apache-2.0
"""A candidate's process of benchmarks/torch_loop.py: makes the model, compares its outputs with eager FP32's, applies the candidate's
settings, warms up, and times single calls in blocks when it is told to."""
import contextlib
import json
import os
import pathlib
import sys
import tempfile
import time

from timed_calls import timed, warm_up


class Failed(Exception):
    """A candidate that cannot be timed."""


def child(job):
    # Libraries write on standard output; the answers go where they cannot.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(reply):
        answers.write(json.dumps(reply) + "\n")
        answers.flush()

    begun = time.perf_counter()
    try:
        run, facts = prepare(job)
    except Exception as error:  # whatever torch raises is this candidate's reason
        import traceback

        traceback.print_exc()
        text = " ".join(str(error).split())[:400]
        say({"failed": text if isinstance(error, Failed) else f"{type(error).__name__}: {text}"})
        return
    warm_up(run, 0.25, 3)
    say({**facts, "ready_s": time.perf_counter() - begun})
    for line in sys.stdin:
        say({"ms": timed(run, float(line))})


def caches_in(folder):
    """Environment variables: what is compiled goes there, and is found there."""
    return {"AITUNE_CACHE_DIR": str(folder / "aitune"), "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
            "TRITON_CACHE_DIR": str(folder / "triton"), "TORCHINDUCTOR_FX_GRAPH_CACHE": "1", "ORT_DISABLE_TELEMETRY": "1"}


def load(target):
    import importlib.util

    path, _, name = target.rpartition(":")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("timed_model", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["timed_model"] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def prepare(job):
    import torch

    if job["threads"]:
        torch.set_num_threads(job["threads"])
        if "torch_compile" in job["settings"]:
            import torch._inductor.config

            torch._inductor.config.compile_threads = 1  # else as many processes as there are CPUs, for each candidate
    torch.manual_seed(0)
    model, inputs = load(job["target"])()[:2]
    args, kwargs = ((), dict(inputs)) if isinstance(inputs, dict) else (inputs if isinstance(inputs, tuple) else (inputs,), {})
    device = next(model.parameters()).device
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    reference = reference_of(torch, model, args, kwargs)
    wait()
    if job["engine"] == "onnxruntime":
        call, outputs = session_of(torch, job, model, args, kwargs, device)
    elif job["engine"] == "aitune":
        import torch_aitune

        call, outputs = torch_aitune.tuned(torch, job["aitune"], model, args, kwargs)
    else:
        call, outputs = torch_call(torch, dict(job["settings"]), model, args, kwargs, device)

    def run():
        call()
        wait()

    run()
    error, cosine = difference(torch, reference, outputs())
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else processor()
    return run, {"error": error, "cosine": cosine, "facts": {"torch": torch.__version__, "device": name}}


def processor():
    return next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "CPU")


def reference_of(torch, model, args, kwargs):
    matmul, convolution = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    with torch.no_grad():
        kept = flat(torch, model(*args, **kwargs))
    torch.set_float32_matmul_precision(matmul)
    torch.backends.cudnn.allow_tf32 = convolution
    return kept


def flat(torch, value):
    """Copies, in double precision, of the floating-point tensors of an output."""
    from torch.utils._pytree import tree_flatten

    leaves, _ = tree_flatten(value)
    return [leaf.detach().double().cpu() for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]


def difference(torch, reference, outputs):
    """Largest scaled difference and least cosine over the outputs."""
    if len(reference) != len(outputs):
        raise Failed(f"{len(outputs)} outputs, expected {len(reference)}")
    error, cosine = 0.0, 1.0
    for one, two in zip(reference, outputs):
        if not bool(torch.isfinite(two).all()):
            raise Failed("an output is not finite")
        error = max(error, float((one - two).abs().max() / one.abs().max().clamp(min=1e-12)))
        cosine = min(cosine, float(torch.nn.functional.cosine_similarity(one.flatten(), two.flatten(), dim=0)))
    return error, cosine


def torch_call(torch, settings, model, args, kwargs, device):
    """(a call, its outputs' copies). Settings by the names of `ridgeline tune`, each applied here by torch's own calls."""
    precision, grad = settings.pop("torch_precision", "as_is"), settings.pop("grad_mode", "grad")
    compiled, graph = settings.pop("torch_compile", "off"), settings.pop("cuda_graph", False)
    if graph and device.type != "cuda" or compiled == "reduce-overhead" and device.type != "cuda":
        raise Failed("needs a CUDA device")
    tf32 = settings.pop("allow_tf32", None)
    if tf32 is not None:
        torch.set_float32_matmul_precision("high" if tf32 else "highest")
        torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = settings.pop("cudnn_benchmark", False)
    if "torch_threads" in settings:
        torch.set_num_threads(settings.pop("torch_threads"))
    change = lambda tensor: tensor
    if precision in ("fp16", "bf16"):
        dtype = torch.float16 if precision == "fp16" else torch.bfloat16
        model = model.to(dtype)
        change = lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor
    if settings.pop("channels_last", False):
        model, before = model.to(memory_format=torch.channels_last), change
        change = lambda tensor: (lambda one: one.contiguous(memory_format=torch.channels_last) if one.dim() == 4 else one)(before(tensor))
    args = tuple(change(one) if isinstance(one, torch.Tensor) else one for one in args)
    kwargs = {key: change(one) if isinstance(one, torch.Tensor) else one for key, one in kwargs.items()}
    call, compile_arguments = model, {}
    if settings.pop("compile_freezing", False):
        import torch._inductor.config

        torch._inductor.config.freezing = True
    for key in ("dynamic", "fullgraph"):
        if "compile_" + key in settings:
            compile_arguments[key] = settings.pop("compile_" + key)
    if compiled != "off":
        mode = "max-autotune-no-cudagraphs" if compiled == "max-autotune" and graph else compiled
        call = torch.compile(model, mode=mode, **compile_arguments)
    script, backend = settings.pop("torchscript", "off"), settings.pop("sdpa_backend", "auto")
    if settings:
        raise Failed(f"unknown settings: {', '.join(settings)}")
    stack = contextlib.ExitStack()
    if backend != "auto":
        from torch.nn.attention import SDPBackend, sdpa_kernel

        names = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "math": "MATH", "cudnn": "CUDNN_ATTENTION"}
        stack.enter_context(sdpa_kernel(getattr(SDPBackend, names[backend])))
    if grad != "grad":
        stack.enter_context({"no_grad": torch.no_grad, "inference_mode": torch.inference_mode}[grad]())
    if script != "off":
        call = torch.jit.trace(model, args, strict=False)
        call = torch.jit.optimize_for_inference(torch.jit.freeze(call)) if script == "freeze" else call
    plain = lambda: call(*args, **kwargs)
    if precision.startswith("autocast"):
        inner, dtype = plain, torch.float16 if precision.endswith("fp16") else torch.bfloat16

        def plain():
            with torch.autocast(device.type, dtype=dtype, cache_enabled=not graph):
                return inner()
    if compiled != "off":
        from torch._dynamo.utils import counters
    for _ in range(3):
        plain()
    if compiled != "off" and not counters["frames"].get("ok"):
        raise Failed("ran eager: nothing was compiled")
    if not graph:
        return plain, lambda: flat(torch, plain())
    return captured(torch, plain)


def captured(torch, plain):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            plain()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        returned = plain()

    def outputs():
        graph.replay()
        torch.cuda.synchronize()
        return flat(torch, returned)

    return graph.replay, outputs


def exported(torch, job, model, args, kwargs, half):
    """The model's ONNX file, by the exporter that works; the processes of a set may come at the same time."""
    path = pathlib.Path(job["work"]) / ("half.onnx" if half else "full.onnx")
    if path.exists():
        return path
    problems = []
    for arguments in ({"dynamo": True}, {"dynamo": False}):
        with tempfile.TemporaryDirectory(dir=job["work"]) as folder:
            part = pathlib.Path(folder) / path.name
            try:
                with torch.no_grad():
                    if arguments["dynamo"]:
                        torch.onnx.export(model, args, str(part), kwargs=kwargs or None, dynamo=True, external_data=False)
                    else:
                        torch.onnx.export(model, args + ((kwargs,) if kwargs else ()), str(part), dynamo=False)
            except Exception as error:
                problems.append(f"{type(error).__name__}: {' '.join(str(error).split())[:120]}")
                continue
            part.rename(path)
            return path
    raise Failed("no exporter worked: " + "; ".join(problems))


def session_of(torch, job, model, args, kwargs, device):
    try:
        import onnxruntime
    except ImportError as error:
        raise Failed(str(error))
    cuda = device.type == "cuda"
    provider = job.get("provider") or ("CUDAExecutionProvider" if cuda else "CPUExecutionProvider")
    if provider not in onnxruntime.get_available_providers():
        raise Failed(f"onnxruntime {onnxruntime.__version__} has no {provider}")
    half = job["settings"].get("torch_precision") == "fp16"
    if half:
        model = model.half()
    change = lambda one: one.half() if half and one.is_floating_point() else one
    args, kwargs = tuple(change(one) for one in args), {key: change(one) for key, one in kwargs.items()}
    path = exported(torch, job, model, args, kwargs, half)
    settings, options = onnxruntime.SessionOptions(), {}
    settings.log_severity_level = 3
    chosen = job.get("options")
    if chosen is None:
        chosen = {"enable_cuda_graph": "1", "use_tf32": "1", "cudnn_conv_algo_search": "EXHAUSTIVE"} if cuda else {}
    for key, value in chosen.items():
        if "." in key:
            settings.add_session_config_entry(key, value)
        elif hasattr(settings, key):
            kind = type(getattr(settings, key))
            setattr(settings, key, value == "true" if kind is bool else int(value) if kind is int else getattr(kind, value))
        else:
            options[key] = value
    if cuda and hasattr(onnxruntime, "preload_dlls"):
        onnxruntime.preload_dlls()
    session = onnxruntime.InferenceSession(str(path), settings, providers=[(provider, options)])
    if session.get_providers()[0] != provider:
        raise Failed(f"{provider} was not taken; the session runs on {', '.join(session.get_providers())}")
    given = [*args, *kwargs.values()]
    binding, held = session.io_binding(), []
    for expected, tensor in zip(session.get_inputs(), given):
        tensor = tensor.contiguous()
        held.append(tensor)
        binding.bind_input(expected.name, device.type, device.index or 0, str(tensor.dtype).replace("torch.", ""), tuple(tensor.shape), tensor.data_ptr())
    with torch.no_grad():
        from torch.utils._pytree import tree_flatten

        leaves = [leaf for leaf in tree_flatten(model(*args, **kwargs))[0] if isinstance(leaf, torch.Tensor)]
    results = []
    for expected, leaf in zip(session.get_outputs(), leaves):
        tensor = torch.empty(leaf.shape, dtype=leaf.dtype, device=device)
        results.append(tensor)
        binding.bind_output(expected.name, device.type, device.index or 0, str(tensor.dtype).replace("torch.", ""), tuple(tensor.shape), tensor.data_ptr())
    for _ in range(3):
        if cuda:
            torch.cuda.synchronize()  # ONNX Runtime's stream does not wait for torch's
        session.run_with_iobinding(binding)

    def run(_=(held, results)):  # the session knows only their addresses
        session.run_with_iobinding(binding)

    def outputs():
        run()
        return flat(torch, results)

    return run, outputs
