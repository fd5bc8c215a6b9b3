#!/usr/bin/env python3
"""The symbol table of an RV64 image: written from its first link, checked against its last.

  symbols.py write --nm NM --title TEXT IMAGE.elf TABLE.S    the functions of IMAGE as the section .symbols (symbols.h)
  symbols.py check --nm NM IMAGE.elf FINAL.elf               every function of IMAGE has the same address in FINAL
"""
import argparse
import subprocess
import sys


def functions(nm, image):
    """(address, name) of every function, by address; names without arguments."""
    text = subprocess.run([nm, "-C", "-n", "--defined-only", image], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        address, kind, name = line.split(" ", 2)
        if kind in "tTwW" and not name.startswith(("$", ".L")):
            found.setdefault(int(address, 16), plain(name))
    return sorted(found.items())


def plain(name):
    """dvp::dllm::(anonymous namespace)::amount(float) [clone .isra.0] -> dvp::dllm::amount"""
    name = name.replace("(anonymous namespace)::", "").split(" [clone")[0]
    start = len("operator()") + name.index("operator()") if "operator()" in name else 0
    end = name.find("(", start)
    return name if end < 0 else name[:end]


def write(nm, title, image, table):
    names = functions(nm, image)
    start = next(address for address, name in names if name == "text_start" or name == "_start")
    texts = [title] + [name for _, name in names]
    offsets, end = [], 12 + 8 * len(names)
    for text in texts:
        offsets.append(end)
        end += len(text.encode()) + 1
    with open(table, "w", encoding="utf-8") as out:
        out.write('    .section .symbols, "a"\n    .balign 4\n')
        out.write(f"    .word {len(names)}, {end}, {offsets[0]}\n")
        for (address, _), offset in zip(names, offsets[1:]):
            out.write(f"    .word {address - start}, {offset}\n")
        for text in texts:
            quoted = text.replace("\\", "\\\\").replace('"', '\\"')
            out.write(f'    .asciz "{quoted}"\n')


def check(nm, image, final):
    before, after = functions(nm, image), functions(nm, final)
    if before != after:
        moved = sorted(set(before) ^ set(after))[0]
        sys.exit(f"{final}: the symbol table is wrong: {moved[1]} at {moved[0]:#x} is in one link only")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["write", "check"])
    parser.add_argument("--nm", required=True)
    parser.add_argument("--title", default="")
    parser.add_argument("image")
    parser.add_argument("other")
    arguments = parser.parse_args()
    if arguments.action == "write":
        write(arguments.nm, arguments.title, arguments.image, arguments.other)
    else:
        check(arguments.nm, arguments.image, arguments.other)


if __name__ == "__main__":
    main()
