#!/usr/bin/env bash
# Builds Ridgeline's training plugin against the torch that a Python has, with g++ alone: no CMake, no network, no CUDA
# toolkit.
#   build_torch_plugin.sh [--python PYTHON] [--output FOLDER]
# PYTHON: the interpreter that has torch (default: python3). FOLDER: where ridgeline_torch.so goes (default: where
# `ridgeline bench` looks for it, ~/.local/share/ridgeline/plugins). CXX names another compiler, CXXFLAGS
# adds to its flags.
set -euo pipefail
say() { printf '==> %s\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

python=python3
output=${XDG_DATA_HOME:-${HOME:-/tmp}/.local/share}/ridgeline/plugins
while [ $# -gt 0 ]; do
  case $1 in
    --python | --output)
      [ $# -ge 2 ] || die "$1: a value is missing"
      [ "$1" = --python ] && python=$2 || output=$2
      shift 2
      ;;
    -h | --help)
      sed -n '2,7s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *) die "unknown argument $1; expected --python PYTHON or --output FOLDER" ;;
  esac
done
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -f "$here/../plugins/torch/plugin.cpp" ]; then # the source tree
  sources=$here/../plugins/torch
  interface=$here/../src/workload/training
elif [ -f "$here/plugin-src/plugin.cpp" ]; then # the installed share/ridgeline
  sources=$here/plugin-src
  interface=$sources
else
  die "the plugin's sources are neither in $here/../plugins/torch nor in $here/plugin-src; install Ridgeline again"
fi
compiler=${CXX:-g++}
command -v "$compiler" >/dev/null 2>&1 || die "no C++ compiler $compiler; install g++ 12 or later, or set CXX"
command -v "$python" >/dev/null 2>&1 || die "no Python $python; name the one that has torch with --python"

facts=$(mktemp -d)
trap 'rm -rf "$facts"' EXIT
say "asking $python for its torch"
"$python" - >"$facts/torch" 2>"$facts/error" <<'PYTHON' || die "$python has no torch that can be imported ($(tail -n 1 "$facts/error")); name another one with --python"
import glob
import os
import torch

folder = os.path.dirname(torch.__file__)
include = os.path.join(folder, "include")
library = os.path.join(folder, "lib")
if not os.path.exists(os.path.join(include, "torch", "csrc", "jit", "api", "module.h")):  # a distribution's package
    include = library = ""
# Torch before 2.9 tells a GPU's memory only by a header that needs CUDA's, from pip's nvidia packages or a toolkit.
cuda = ""
old = tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 9)
site = os.path.dirname(folder)
for place in sorted(glob.glob(os.path.join(site, "nvidia", "*", "include"))) + ["/usr/local/cuda/include"]:
    if old and os.path.exists(os.path.join(place, "cuda_runtime_api.h")):
        cuda = place
        break
print(torch.__version__)
print(int(torch.compiled_with_cxx11_abi()))
print(include)
print(library)
print(int(torch.version.cuda is not None))
print(cuda)
PYTHON
{
  read -r version
  read -r abi
  read -r include
  read -r library
  read -r has_cuda
  read -r cuda_include
} <"$facts/torch"
say "torch $version, C++ ABI $abi, $([ "$has_cuda" = 1 ] && echo "with CUDA" || echo "CPU only")"

flags=(-std=c++20 -O1 -fPIC -fvisibility=hidden -fno-strict-aliasing "-D_GLIBCXX_USE_CXX11_ABI=$abi" "-I$sources" "-I$interface")
read -ra extra <<<"${CXXFLAGS:-}"
flags+=(${extra[@]+"${extra[@]}"})
links=(-shared -Wl,--no-as-needed)
if [ -n "$include" ]; then
  flags+=(-isystem "$include" -isystem "$include/torch/csrc/api/include")
  links+=("-L$library" "-Wl,-rpath,$library")
else
  found=
  for folder in /usr/include /usr/local/include; do
    [ -f "$folder/torch/csrc/jit/api/module.h" ] && found=$folder
  done
  [ -n "$found" ] || die "torch $version has no C++ headers beside it; install libtorch-dev"
  flags+=(-isystem "$found/torch/csrc/api/include")
fi
links+=(-ltorch -ltorch_cpu -lc10)
if [ "$has_cuda" = 1 ] && [ -n "$library" ]; then
  links+=(-ltorch_cuda -lc10_cuda)
  if [ -n "$cuda_include" ] && printf '#include <c10/cuda/CUDACachingAllocator.h>\n' |
    "$compiler" "${flags[@]}" -isystem "$cuda_include" -fsyntax-only -x c++ - 2>/dev/null; then
    flags+=(-isystem "$cuda_include" -DRIDGELINE_CUDA_HEADERS)
    say "CUDA headers: $cuda_include"
  fi
fi

mkdir -p "$output" || die "cannot make $output; name another folder with --output"
say "compiling with $compiler ($("$compiler" -dumpfullversion 2>/dev/null || echo "?"); about half a minute)"
begin=$(date +%s)
# As one file: nearly all of the time goes into LibTorch's headers.
for source in "$sources"/*.cpp; do printf '#include "%s"\n' "$(basename "$source")"; done >"$facts/all.cpp"
"$compiler" "${flags[@]}" -c "$facts/all.cpp" -o "$facts/all.o" >"$facts/compile.log" 2>&1 || {
  cat "$facts/compile.log" >&2
  die "the plugin does not compile against torch $version; the compiler's words are above"
}
say "linking"
"$compiler" "$facts/all.o" "${links[@]}" -o "$facts/ridgeline_torch.so" >"$facts/link.log" 2>&1 || {
  cat "$facts/link.log" >&2
  die "the plugin cannot be linked against torch $version"
}
mv "$facts/ridgeline_torch.so" "$output/ridgeline_torch.so" || die "cannot write $output/ridgeline_torch.so"
say "done in $(($(date +%s) - begin)) s"
echo "$output/ridgeline_torch.so"
default=${XDG_DATA_HOME:-${HOME:-/tmp}/.local/share}/ridgeline/plugins
say "try: $([ "$output" = "$default" ] || echo "RIDGELINE_TORCH_PLUGIN=$output/ridgeline_torch.so ")ridgeline bench --model mlp"
