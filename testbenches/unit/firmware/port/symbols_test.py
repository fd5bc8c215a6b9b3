#!/usr/bin/env python3
"""The symbol table inside a finished RV64 image says what nm says about that image, and symbols.py refuses a wrong one."""
import argparse
import pathlib
import struct
import subprocess
import sys
import tempfile


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    parser = argparse.ArgumentParser()
    for name in ("--image", "--tools", "--script"):
        parser.add_argument(name, required=True)
    a = parser.parse_args()
    functions = {}
    variables = {}
    for line in run(a.tools + "nm", "-C", "--defined-only", a.image).splitlines():
        address, kind, name = line.split(" ", 2)
        functions.setdefault(int(address, 16), []).append(name) if kind in "tTwW" else None
        variables[name] = int(address, 16)
    start = variables["text_start"]

    with tempfile.TemporaryDirectory() as folder:
        table_file = pathlib.Path(folder) / "table"
        run(a.tools + "objcopy", "-O", "binary", "-j", ".symbols", a.image, str(table_file))
        table = table_file.read_bytes()
        count, size, title = struct.unpack_from("<III", table)
        assert size == len(table), (size, len(table))

        def text(offset):
            return table[offset:table.index(b"\0", offset)].decode()

        assert text(title).startswith(pathlib.Path(a.image).stem + " "), text(title)
        assert count == len(functions) > 50, (count, len(functions))
        addresses = []
        for i in range(count):
            offset, name = struct.unpack_from("<II", table, 12 + 8 * i)
            addresses.append(start + offset)
            full = [n.replace("(anonymous namespace)::", "") for n in functions[start + offset]]
            assert any(n.startswith(text(name)) for n in full), (hex(start + offset), text(name), full)
            assert "(" not in text(name).replace("operator()", ""), text(name)
        assert addresses == sorted(functions), "not by ascending address"
        assert len(table) < 32 << 10, f"{len(table)} bytes are more than a small table"

        # A stripped copy has other symbols than the image: refused with a sentence that names the file.
        other = pathlib.Path(folder) / "other.elf"
        run(a.tools + "objcopy", "--strip-symbol=main", a.image, str(other))
        refused = subprocess.run([sys.executable, a.script, "check", "--nm", a.tools + "nm", a.image, str(other)],
                                 capture_output=True, text=True)
        assert refused.returncode != 0 and "other.elf" in refused.stderr and "main" in refused.stderr, refused
        run(sys.executable, a.script, "check", "--nm", a.tools + "nm", a.image, a.image)
    print(f"{count} functions, {len(table)} bytes")


if __name__ == "__main__":
    main()
