"""Reader of the GGUF version 3 files that gguf.py writes: metadata and F32 or Q8_0 tensors."""

import struct

import numpy as np

import gguf

SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", gguf.U32: "<I", gguf.I32: "<i", gguf.FLOAT: "<f", gguf.BOOL: "<?", 10: "<Q", 11: "<q", 12: "<d"}


class Reader:
    """metadata: {key: value}. Raises ValueError with one sentence when the file is not one of those."""

    def __init__(self, raw):
        self._raw, self._at = raw, 0
        try:
            self._read()
        except (struct.error, UnicodeDecodeError, KeyError, MemoryError, OverflowError) as problem:
            raise ValueError(f"is not a whole GGUF version 3 file ({problem})") from problem

    def _read(self):
        magic, version, tensors, entries = self._take("<4sIQQ")
        if magic != b"GGUF" or version != 3:
            raise ValueError("is not a GGUF version 3 file")
        self.metadata = {}
        for _ in range(entries):
            key = self._string()
            self.metadata[key] = self._value(self._take("<I")[0])
        table = {}
        for _ in range(tensors):
            name = self._string()
            extents = self._take(f"<{self._take('<I')[0]}Q")
            table[name] = (extents, *self._take("<IQ"))
        first = -(-self._at // gguf.ALIGNMENT) * gguf.ALIGNMENT
        self._table = {name: (extents, kind, first + offset) for name, (extents, kind, offset) in table.items()}

    def _take(self, form):
        value = struct.unpack_from(form, self._raw, self._at)
        self._at += struct.calcsize(form)
        return value

    def _string(self):
        length = self._take("<Q")[0]
        if length > len(self._raw) - self._at:
            raise ValueError("is not a whole GGUF version 3 file (a string leaves it)")
        self._at += length
        return self._raw[self._at - length : self._at].decode()

    def _value(self, kind):
        if kind == gguf.STRING:
            return self._string()
        if kind == gguf.ARRAY:
            element, count = self._take("<IQ")
            return [self._value(element) for _ in range(count)]
        return self._take(SCALARS[kind])[0]

    def __contains__(self, name):
        return name in self._table

    def _place(self, name, kind, bytes_per_32):
        if name not in self._table:
            raise ValueError(f"has no tensor {name}")
        extents, stored, offset = self._table[name]
        if stored != kind:
            raise ValueError(f"{name}: is of type {stored}, and calibration reads matrices as Q8_0 (8) and the rest as F32 (0)")
        count = int(np.prod(extents))
        if offset + count // 32 * bytes_per_32 > len(self._raw):
            raise ValueError(f"{name}: leaves the file")
        return extents, offset, count

    def q8(self, name):
        """(scales FP32 [rows, groups], codes int8 [rows, columns])."""
        (columns, rows), offset, count = self._place(name, gguf.Q8_0, 34)
        blocks = np.frombuffer(self._raw, np.uint8, count // 32 * 34, offset).reshape(rows, columns // 32, 34)
        scales = blocks[..., :2].copy().view("<f2")[..., 0].astype(np.float32)
        return scales, blocks[..., 2:].copy().view(np.int8).reshape(rows, columns)

    def matrix(self, name):
        scales, codes = self.q8(name)
        return gguf.dequantise(scales, codes.reshape(*scales.shape, 32))

    def vector(self, name):
        extents, offset, count = self._place(name, gguf.F32, 128)
        return np.frombuffer(self._raw, "<f4", count, offset).reshape(extents[::-1]).copy()
