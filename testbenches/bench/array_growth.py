#!/usr/bin/env python3
"""How build time and speed of the Verilated array grow with its size: a table in Markdown.

  array_growth.py --build BUILD_DIRECTORY

Square arrays with packing, one adder stage and 16-bit lanes. The build is Verilator and compiler, without ccache.
"""
import argparse
import os
import pathlib
import subprocess
import time

SIZES = (8, 16, 32, 64)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build
    environment = dict(os.environ, CCACHE_DISABLE="1")

    def ninja(*arguments):
        subprocess.run(["ninja", "-C", str(build), *arguments], check=True, env=environment, stdout=subprocess.DEVNULL)

    ninja("dvp_verilated_runtime")
    print("| array | Verilator and compile | q8 clock | q8 updates | q2 clock | q2 updates | idle clock |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for size in SIZES:
        (build / "testbenches" / "bench" / f"dvp_growth_{size}.dir" / "all.cpp").unlink(missing_ok=True)
        start = time.monotonic()
        ninja(f"dvp_growth_{size}")
        seconds = time.monotonic() - start
        ninja(f"array_growth_{size}")
        program = build / "testbenches" / "bench" / f"array_growth_{size}"
        figures = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
        q8, q8_updates, q2, q2_updates, idle = (int(figure) for figure in figures)
        print(f"| {size}x{size} | {seconds:.0f} s | {q8:,} kHz | {q8_updates} M/s | {q2:,} kHz | {q2_updates} M/s "
              f"| {idle:,} kHz |", flush=True)


if __name__ == "__main__":
    main()
