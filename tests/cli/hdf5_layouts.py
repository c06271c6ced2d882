#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every value of every HDF5 layout, as the loader delivers it, is the one that h5py reads; what cannot be read is one line.

Usage: hdf5_layouts.py PROGRAM   (tests/tools/read_training_file.cpp). Works in the current folder.
"""
import os
import subprocess
import sys

import h5py
import numpy as np

PROGRAM = sys.argv[1]
RANDOM = np.random.default_rng(0)
X = RANDOM.random((64, 3, 4, 5), dtype=np.float32)
Y = (np.arange(64) % 10).astype("i8")
problems = []


def write(name, fill, **options):
    with h5py.File(name, "w", **options) as file:
        fill(file)


def read(name, dataset, folder=".", **environment):
    done = subprocess.run([PROGRAM, name, dataset], capture_output=True, timeout=60, cwd=folder,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr.decode()


def expected(name, dataset):
    """The bytes in the host's byte order; enumerations and bit fields as the integers behind them."""
    with h5py.File(name, "r") as file:
        values = file[dataset][...]
    if values.dtype.kind == "b":
        values = values.view("i1")
    return np.ascontiguousarray(values.astype(values.dtype.newbyteorder("="))).tobytes()


def same(name, *datasets, notes=(), reference=None, **where):
    """The loader gives what h5py gives, and its notes hold the texts, or are none."""
    for dataset in datasets:
        code, out, err = read(name, dataset, **where)
        values = expected(*(reference or (os.path.join(where.get("folder", "."), name), dataset)))
        if code != 0:
            problems.append(f"{name} {dataset}: {err.strip()}")
        elif out != values:
            problems.append(f"{name} {dataset}: {len(out)} bytes differ from h5py's {len(values)}")
        for note in notes:
            if note not in err:
                problems.append(f"{name} {dataset}: no note \"{note}\": {err.strip()}")
        if not notes and err:
            problems.append(f"{name} {dataset}: an unexpected note: {err.strip()}")


def refused(name, dataset, *texts, **where):
    """One line, which holds the texts."""
    code, out, err = read(name, dataset, **where)
    if code != 2 or err.count("\n") != 1:
        problems.append(f"{name} {dataset}: exit code {code}, expected 2 and one line: {err.strip()[:300]}")
    for text in texts:
        if text not in err:
            problems.append(f"{name} {dataset}: no \"{text}\" in: {err.strip()}")


def both(**options):
    def fill(file):
        file.create_dataset("x", data=X, **options)
        file["y"] = Y
    return fill


def inside_one_file():
    rows = {"chunks": (16, 3, 4, 5)}
    layouts = {
        "plain": both(), "gzip1": both(chunks=(1, 3, 4, 5), compression="gzip"), "chunk1111": both(chunks=(1, 1, 1, 1)),
        "edges": both(chunks=(7, 2, 3, 5)), "fletcher": both(fletcher32=True, **rows), "lzf": both(compression="lzf", **rows),
        "shuffled": both(shuffle=True, compression="gzip", **rows),
        "bigendian": lambda f: (f.create_dataset("x", data=X.astype(">f4")), f.create_dataset("y", data=Y.astype(">i4"))),
        "f16": lambda f: (f.create_dataset("x", data=X.astype("f2")), f.create_dataset("y", data=Y.astype("f4"))),
        "f64": lambda f: (f.create_dataset("x", data=X.astype("f8")), f.create_dataset("y", data=Y.astype("u8"))),
        "hwc_u8": lambda f: (f.create_dataset("x", data=(X * 255).astype("u1").transpose(0, 2, 3, 1)),
                             f.create_dataset("y", data=Y.astype("u2"))),
        "bools": lambda f: (f.create_dataset("x", data=X > 0.5), f.create_dataset("y", data=Y)),
        "onehot": lambda f: (f.create_dataset("x", data=X), f.create_dataset("y", data=np.eye(10, dtype="f4")[Y])),
        "label_n1": lambda f: (f.create_dataset("x", data=X), f.create_dataset("y", data=Y[:, None])),
        "many_attributes": lambda f: (both()(f), [f["x"].attrs.__setitem__(f"a{i}", "v" * 100) for i in range(300)]),
    }
    for name, fill in layouts.items():
        write(name + ".h5", fill)
        same(name + ".h5", "x", "y")
        write(name + "_v110.h5", fill, libver=("earliest", "v110"))
        same(name + "_v110.h5", "x", "y")
    write("userblock.h5", both(), userblock_size=1024)
    same("userblock.h5", "x", "y")
    write("userblock_chunks.h5", both(compression="gzip", **rows), userblock_size=512)
    same("userblock_chunks.h5", "x", "y")
    write("resized.h5", both(maxshape=(None, 3, 4, 5), compression="gzip", **rows), libver=("earliest", "v110"))
    same("resized.h5", "x", "y")
    write("core.h5", both(), driver="core")
    same("core.h5", "x", "y")
    library = "read by the HDF5 library"
    write("scaleoffset.h5", lambda f: f.create_dataset("x", data=(X * 1000).astype("i4"), scaleoffset=0, **rows))
    same("scaleoffset.h5", "x", notes=[library, "filter 6"])

    def linked(file):
        group = file.create_group("raw/deep")
        both()(group)
        file["x"] = h5py.SoftLink("/raw/deep/x")
        file["y"] = h5py.SoftLink("raw/deep/y")
        file["group"] = h5py.SoftLink("/raw")
        file["hard"] = group["x"]
    write("softlink.h5", linked)
    same("softlink.h5", "x", "y", "hard", "group/deep/x", "/raw/deep/y")

    def named_type(file):
        file["t"] = np.dtype(">f4")
        file.create_dataset("x", data=X, dtype=file["t"])
        file["e"] = h5py.enum_dtype({"cat": 0, "dog": 7}, "i2")
        file.create_dataset("y", data=Y % 2 * 7, dtype=file["e"])
    write("named_type.h5", named_type)
    same("named_type.h5", "x", "y")
    write("uni code ✓.h5", lambda f: (f.create_dataset("mein Bild 数据", data=X), f.create_dataset("étiquette", data=Y)))
    same("uni code ✓.h5", "mein Bild 数据", "étiquette")

    def unwritten(file):
        file.create_dataset("x", shape=X.shape, dtype="f4", fillvalue=3)
        part = file.create_dataset("y", shape=(64,), dtype="i8", chunks=(16,), fillvalue=-1)
        part[:16] = Y[:16]
    write("unwritten.h5", unwritten)
    same("unwritten.h5", "x", notes=["its values were never written"])
    same("unwritten.h5", "y", notes=["3 of 4 chunks were never written"])

    def brain_floats(file):
        kind = h5py.h5t.IEEE_F32LE.copy()
        kind.set_fields(15, 7, 8, 0, 7)
        kind.set_size(2)
        kind.set_ebias(127)
        space = h5py.h5s.create_simple((64, 4))
        dataset = h5py.h5d.create(file.id, b"x", kind, space)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(256, dtype="f4").reshape(64, 4))
    write("bf16.h5", brain_floats)
    code, out, err = read("bf16.h5", "x")
    if code != 0 or out != np.arange(256, dtype="f4").tobytes():
        problems.append(f"bf16.h5: {err}")


def refused_inside_one_file():
    def filled(**datasets):
        return lambda file: [file.create_dataset(name, **options) for name, options in datasets.items()]
    write("groups.h5", lambda f: [both()(f.create_group(name)) for name in ("train", "val")])
    refused("groups.h5", "x", "has no dataset \"x\"; it has train/x, train/y, val/x, val/y")
    refused("groups.h5", "train", "\"train\" is a group, not a dataset; it has train/x, train/y")
    refused("groups.h5", "train/z", "has no dataset \"train/z\"", "train/x")
    refused("groups.h5", "test/x", "has no dataset \"test/x\"", "val/x")
    write("bare.h5", lambda f: f.create_group("a/b"))
    refused("bare.h5", "x", "it has no dataset")
    write("odd.h5", filled(strings={"data": ["a"] * 8, "dtype": h5py.string_dtype()},
                           lists={"shape": (8,), "dtype": h5py.vlen_dtype("i4")},
                           references={"shape": (8,), "dtype": h5py.ref_dtype}, scalar={"data": 3.0}))
    refused("odd.h5", "strings", "strings of variable length", "an integer from 0")
    refused("odd.h5", "lists", "elements of variable length")
    refused("odd.h5", "references", "references to other objects", "name the dataset")
    refused("odd.h5", "scalar", "a single value")
    write("null.h5", lambda f: f.__setitem__("x", h5py.Empty("f4")))
    refused("null.h5", "x", "holds nothing")
    write("types.h5", lambda f: f.__setitem__("x", np.dtype("f4")))
    refused("types.h5", "x", "\"x\" is a named type, not a dataset")

    def links(file):
        file["x"] = h5py.SoftLink("/nowhere")
        file["far"] = h5py.SoftLink("/nowhere/group")
        file["a"] = h5py.SoftLink("/b")
        file["b"] = h5py.SoftLink("/a")
    write("dangling.h5", links)
    refused("dangling.h5", "x", "dataset \"x\" is a link to \"/nowhere\", which does not exist")
    refused("dangling.h5", "far/y", "group \"far\" is a link to \"/nowhere/group\", which does not exist")
    refused("dangling.h5", "a", "a link that leads in a circle")
    with open("notreally.h5", "w", encoding="utf-8") as file:
        file.write("version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 123\n")
    refused("notreally.h5", "x", "is no HDF5 file")
    with open("empty.h5", "w", encoding="utf-8"):
        pass
    refused("empty.h5", "x", "is empty")
    with open("plain.h5", "rb") as file:
        data = file.read()
    with open("cut.h5", "wb") as file:
        file.write(data[:len(data) // 2])
    refused("cut.h5", "x", "is cut off", str(len(data)))
    newer = bytearray(data)
    newer[8] = 5
    with open("superblock.h5", "wb") as file:
        file.write(newer)
    refused("superblock.h5", "x", "has a superblock of version 5, newer than HDF5", "libver")
    write("layout.h5", both(), libver=("earliest", "v110"))
    with open("layout.h5", "rb") as file:
        newer = bytearray(file.read())
    # The layout message of x: its version and class, and then its address and size.
    place = newer.find(bytes([4, 1]) + newer.find(X.tobytes()).to_bytes(8, "little"))
    if place > 0:
        newer[place] = 9
        with open("layout.h5", "wb") as file:
            file.write(newer)
        refused("layout.h5", "x", "was written by a newer HDF5 than", "layout message", "libver")
    for driver, name in (("family", "family%d.h5"), ("split", "split")):
        for version in (None, ("earliest", "v110")):
            write(name, both(), driver=driver, libver=version, **({"memb_size": 2048} if driver == "family" else {}))
            refused("family0.h5" if driver == "family" else "split-m.h5", "x", "one of several files", "family or split")


def unknown_filter():
    """Filters that nobody has: their number and name are what the dataset's header holds."""
    write("filter.h5", lambda f: f.create_dataset("x", data=X, chunks=(16, 3, 4, 5), compression="lzf"))
    with open("filter.h5", "rb") as file:
        data = bytearray(file.read())
    place = data.find((32000).to_bytes(2, "little") + (8).to_bytes(2, "little"))
    name = data.find(b"lzf\0", place)
    data[place:place + 2] = (32015).to_bytes(2, "little")
    data[name:name + 4] = b"zst\0"
    with open("filter.h5", "wb") as file:
        file.write(data)
    refused("filter.h5", "x", "filter 32015 (zst)", "not installed", "HDF5_PLUGIN_PATH")


def in_other_files():
    os.makedirs("side/deeper", exist_ok=True)
    write("side/contiguous.h5", both())
    write("side/chunks.h5", both(chunks=(7, 2, 3, 5), compression="gzip"), userblock_size=1024, libver=("earliest", "v110"))

    def main(file):
        # At the offsets of the other file's data this one holds something else.
        file["filler"] = np.full(1 << 16, 77, "i8")
        for name in ("contiguous", "chunks"):
            file[f"{name}_x"] = h5py.ExternalLink(f"side/{name}.h5", "/x")
            file[f"{name}_y"] = h5py.ExternalLink(f"side/{name}.h5", "/y")
            file[f"{name}_all"] = h5py.ExternalLink(f"side/{name}.h5", "/")
            file[f"{name}_soft"] = h5py.SoftLink(f"/{name}_all/x")
        file["self"] = h5py.ExternalLink("main.h5", "/filler")
        file["chain"] = h5py.ExternalLink("side/chain.h5", "/x")
        file["absolute"] = h5py.ExternalLink(os.path.abspath("side/contiguous.h5"), "/x")
        file["prefixed"] = h5py.ExternalLink("only_there.h5", "/x")
        file["gone"] = h5py.ExternalLink("gone.h5", "/x")
        file["no_object"] = h5py.ExternalLink("side/contiguous.h5", "/z")
        file["circle"] = h5py.ExternalLink("side/circle.h5", "/x")
        file["broken"] = h5py.ExternalLink("notreally.h5", "/x")
    write("main.h5", main)
    write("side/chain.h5", lambda f: f.__setitem__("x", h5py.ExternalLink("deeper/end.h5", "/x")))
    write("side/deeper/end.h5", both(chunks=(16, 3, 4, 5)))
    write("side/deeper/only_there.h5", both())
    write("side/circle.h5", lambda f: f.__setitem__("x", h5py.ExternalLink("../main.h5", "/circle")))
    for name in ("contiguous_x", "contiguous_y", "contiguous_soft", "contiguous_all/x", "chunks_x", "chunks_y", "chunks_soft",
                 "chain", "absolute"):
        same("main.h5", name, notes=["where an external link leads"])
    same("main.h5", "self")
    here = os.getcwd()
    same(os.path.join(here, "main.h5"), "chunks_x", notes=["lies in " + os.path.join(here, "side/chunks.h5")], folder="side")
    same("main.h5", "prefixed", notes=["only_there.h5"], HDF5_EXT_PREFIX=os.path.join(here, "side/deeper"),
         reference=("side/deeper/only_there.h5", "x"))
    for name in ("gone", "prefixed", "broken"):
        refused("main.h5", name, "an external link to \"/x\"", "cannot be opened", "HDF5_EXT_PREFIX")
    refused("main.h5", "no_object", "\"/z\" of \"side/contiguous.h5\"")
    refused("main.h5", "circle", "leads in a circle")
    # Another file with the same name: nothing of the former one is remembered.
    write("side/contiguous.h5", lambda f: (f.__setitem__("pad", np.zeros(999)), both()(f)))
    same("main.h5", "contiguous_x", notes=["where an external link leads"])

    write("raw.h5", lambda f: f.create_dataset("x", shape=X.shape, dtype="f4",
                                               external=[("raw1.bin", 100, 4000), ("raw2.bin", 0, h5py.h5f.UNLIMITED)]))
    with h5py.File("raw.h5", "r+") as file:
        file["x"][...] = X
    library = "data in external files"
    same("raw.h5", "x", notes=[library])
    same(os.path.join(here, "raw.h5"), "x", notes=[library], folder="side", HDF5_EXTFILE_PREFIX="${ORIGIN}",
         reference=("raw.h5", "x"))
    refused(os.path.join(here, "raw.h5"), "x", "external file raw1.bin", "HDF5_EXTFILE_PREFIX", folder="side")
    with open("raw2.bin", "r+b") as file:
        file.truncate(1000)
    refused("raw.h5", "x", "raw2.bin has 1000 bytes", "zeros")


def virtual():
    def source(file):
        file["x"] = X[:32]
    write("part.h5", source)
    write("short.h5", lambda f: f.__setitem__("x", X[:20]))

    def joined(first, second, rows=32):
        def fill(file):
            layout = h5py.VirtualLayout((64, 3, 4, 5), "f4")
            layout[:32] = h5py.VirtualSource(first, "x", (rows, 3, 4, 5))[:32]
            if second:
                layout[32:64] = h5py.VirtualSource(second, "x", (32, 3, 4, 5))
            file.create_virtual_dataset("x", layout, fillvalue=-5)
        return fill
    form = {"libver": ("earliest", "v110")}
    note = "a virtual dataset"
    write("vds.h5", joined("part.h5", "part.h5"), **form)
    same("vds.h5", "x", notes=[note])
    write("side/nested.h5", joined("../vds.h5", "../part.h5", 64), **form)
    same("side/nested.h5", "x", notes=[note])
    write("vds_half.h5", joined("part.h5", "gone.h5"), **form)
    same("vds_half.h5", "x", notes=[note, "1920 of 3840 values are only the fill value", "1 of 2 sources is missing", "gone.h5"])
    write("side/nested_half.h5", joined("../vds_half.h5", "../part.h5", 64), **form)
    same("side/nested_half.h5", "x", notes=["1920 of 3840 values are only the fill value", "gone.h5"])
    write("vds_gap.h5", joined("part.h5", None), **form)
    same("vds_gap.h5", "x", notes=["1920 of 3840 values are only the fill value, as no source has them"])
    write("vds_gone.h5", joined("gone1.h5", "gone2.h5"), **form)
    refused("vds_gone.h5", "x", "no value is there", "all of its 2 sources are missing", "gone1.h5", "HDF5_VDS_PREFIX")
    write("vds_short.h5", joined("part.h5", "short.h5"), **form)
    refused("vds_short.h5", "x", "short.h5", "has 1200 values, expected 1920")
    write("vds_here.h5", lambda f: (f.__setitem__("part", X[:32]),
                                    joined(".", "part.h5")(f)), **form)
    refused_or_noted = read("vds_here.h5", "x")  # "." has no x but the virtual dataset itself
    if refused_or_noted[0] not in (0, 2):
        problems.append(f"vds_here.h5: exit code {refused_or_noted[0]}: {refused_or_noted[2]}")
    os.makedirs("sources", exist_ok=True)
    os.replace("short.h5", "sources/short.h5")
    write("sources/part_far.h5", source)
    write("vds_far.h5", joined("part_far.h5", "part_far.h5"), **form)
    refused("vds_far.h5", "x", "its source is missing", "part_far.h5")
    same("vds_far.h5", "x", notes=[note], HDF5_VDS_PREFIX="sources", reference=("vds.h5", "x"))

    # Blocks in numbered files, one of them missing.
    for block in (0, 1, 3):
        write(f"block_{block}.h5", lambda f, b=block: f.__setitem__("x", X[b * 10:b * 10 + 10, 0, 0, :4]))

    def numbered(file):
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_fill_value(np.array(-5, "f4"))
        space = h5py.h5s.create_simple((0, 4), (h5py.h5s.UNLIMITED, 4))
        space.select_hyperslab((0, 0), (h5py.h5s.UNLIMITED, 1), stride=(10, 1), block=(10, 4))
        block = h5py.h5s.create_simple((10, 4))
        properties.set_virtual(space, b"block_%b.h5", b"x", block)
        h5py.h5d.create(file.id, b"x", h5py.h5t.IEEE_F32LE, space, properties)
    write("numbered.h5", numbered, **form)
    same("numbered.h5", "x", notes=[note])

    def growing(file):
        layout = h5py.VirtualLayout((32, 4), "f4", maxshape=(None, 4))
        source = h5py.VirtualSource("grows.h5", "x", (32, 4), maxshape=(None, 4))
        layout[0:h5py.h5s.UNLIMITED] = source[0:h5py.h5s.UNLIMITED]
        file.create_virtual_dataset("x", layout, fillvalue=-5)
    write("grows.h5", lambda f: f.create_dataset("x", data=X[:32, 0, 0, :4], maxshape=(None, 4), chunks=(8, 4)))
    write("growing.h5", growing, **form)
    same("growing.h5", "x", notes=[note])
    with h5py.File("grows.h5", "r+") as file:
        file["x"].resize((48, 4))
        file["x"][32:] = X[32:48, 0, 0, :4]
    same("growing.h5", "x", notes=[note])  # the new rows are seen


for part in (inside_one_file, refused_inside_one_file, unknown_filter, in_other_files, virtual):
    part()
for problem in problems:
    print("FAILED:", problem)
print(f"{len(problems)} problems, h5py {h5py.__version__} with HDF5 {h5py.version.hdf5_version}")
sys.exit(1 if problems else 0)
