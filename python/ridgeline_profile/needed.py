# SPDX-License-Identifier: Apache-2.0
"""Which libraries a library of ELF needs."""
import struct

LOAD, DYNAMIC = 1, 2  # kinds of segments
END, NEEDED, STRINGS = 0, 1, 5  # tags of the dynamic segment


def _read(file, offset, size):
    file.seek(offset)
    return file.read(size)


def needed_libraries(path):
    """Their names; none if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return list(_needed(file))
    except (OSError, struct.error, IndexError):
        return []


def _needed(file):
    header = _read(file, 0, 64)
    if header[:6] != b"\x7fELF\x02\x01":  # 64 bit, little-endian
        return
    table, = struct.unpack_from("<Q", header, 32)
    size, count = struct.unpack_from("<HH", header, 54)
    segments = [struct.unpack_from("<IIQQQQ", _read(file, table + size * i, size)) for i in range(count)]

    def place(address):
        for kind, _, offset, start, _, length in segments:
            if kind == LOAD and start <= address < start + length:
                return offset + address - start
        raise IndexError(address)

    entries = []
    for kind, _, offset, _, _, length in segments:
        if kind == DYNAMIC:
            entries = list(struct.iter_unpack("<QQ", _read(file, offset, length // 16 * 16)))
    strings = [place(value) for tag, value in entries if tag == STRINGS]
    for tag, value in entries:
        if tag == END:
            return
        if tag == NEEDED and strings:
            yield _read(file, strings[0] + value, 256).split(b"\0")[0].decode("utf-8", "replace")
