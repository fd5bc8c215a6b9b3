"""Writer of GGUF version 3 files: little-endian header, metadata, tensor table, then tensor data at 32-byte alignment.

Matrices are stored as Q8_0: blocks of 32 values along the input axis, each an FP16 scale absmax / 127 and 32 signed codes. The codes are rounded
against the stored (FP16) scale, not the exact one, which gives the smallest error the reader can see.
"""

import struct

import numpy as np

ALIGNMENT = 32
F32, Q8_0 = 0, 8  # ggml tensor types
Q8_GROUP = 32
U32, I32, FLOAT, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9  # metadata value types


def quantise(matrix):
    """(scales FP16 [rows, groups], codes int8 [rows, groups, 32]) of an FP32 matrix [rows, columns]."""
    groups = np.asarray(matrix, np.float32).reshape(matrix.shape[0], -1, Q8_GROUP)
    scales = (np.abs(groups).max(-1) / np.float32(127)).astype(np.float16)
    step = scales.astype(np.float32)[..., None]
    # An all-zero group has scale 0 and codes 0. The FP16 scale may be the smaller neighbour, hence the clip; -128 is never produced.
    codes = np.divide(groups, step, out=np.zeros_like(groups), where=step > 0)
    return scales, np.clip(np.rint(codes), -127, 127).astype(np.int8)


def dequantise(scales, codes):
    return (scales.astype(np.float32)[..., None] * codes).reshape(codes.shape[0], -1)


def q8_bytes(matrix):
    scales, codes = quantise(matrix)
    return np.concatenate([scales[..., None].view(np.int8), codes], -1).tobytes()


def string(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def scalar(kind, value):
    return string(value) if kind == STRING else struct.pack({U32: "<I", I32: "<i", FLOAT: "<f", BOOL: "<?"}[kind], value)


def metadata_entry(key, kind, value):
    """kind is a value type, or (ARRAY, element type)."""
    if isinstance(kind, tuple):
        body = struct.pack("<IIQ", ARRAY, kind[1], len(value)) + b"".join(scalar(kind[1], v) for v in value)
    else:
        body = struct.pack("<I", kind) + scalar(kind, value)
    return string(key) + body


def pad(data):
    return data + b"\0" * (-len(data) % ALIGNMENT)


def build(metadata, tensors, matrices_q8=True):
    """The whole file. metadata: (key, kind, value) in order; tensors: (name, FP32 array) in order, matrices [out, in] row by row."""
    table, data = b"", b""
    for name, array in tensors:
        packed = matrices_q8 and array.ndim == 2
        extents = array.shape[::-1]  # ggml names the contiguous axis first
        table += string(name) + struct.pack(f"<I{len(extents)}Q", len(extents), *extents)
        table += struct.pack("<IQ", Q8_0 if packed else F32, len(data))
        data += pad(q8_bytes(array) if packed else np.ascontiguousarray(array, "<f4").tobytes())
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    return pad(header + b"".join(metadata_entry(*m) for m in metadata) + table) + data
