#!/usr/bin/env python3
"""The rendered device tree through dtc: no warning, and the decompiled tree says what the address map says.

    device_tree_test.py DTC PLATFORM_DTS SYSTEM_JSON
"""
import json
import subprocess
import sys
import re


def number(value):
    return value if isinstance(value, int) else int(value.replace("_", ""), 16)


def compiled(dtc, source):
    """The tree as dtc writes it after a round trip through the binary form: every reference resolved."""
    binary = subprocess.run([dtc, "-I", "dts", "-O", "dtb", "-@", source], capture_output=True)
    complaints = binary.stderr.decode()
    assert binary.returncode == 0 and not complaints, f"dtc: {complaints}"
    # dtc also warns of what it reads back (phandles become plain numbers): only the first pass is judged.
    return subprocess.run([dtc, "-I", "dtb", "-O", "dts", "-q"], input=binary.stdout, capture_output=True,
                          check=True).stdout.decode()


def nodes(text):
    """Properties by node path, as {path: {name: raw value}}."""
    found, path = {}, []
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            path.append(line[:-1].split(":")[-1].strip())
            found["/".join(path).replace("//", "/")] = {}
        elif line == "};":
            path.pop()
        elif line.endswith(";") and path:
            name, _, value = line[:-1].partition(" = ")
            found["/".join(path).replace("//", "/")][name] = value
    return found


def cells(value):
    return [int(word, 16) for word in re.findall(r"0x[0-9a-f]+", value)]


def main():
    dtc, source, system_file = sys.argv[1:]
    tree = nodes(compiled(dtc, source))
    system = json.load(open(system_file))
    harts = [path for path in tree if re.fullmatch(r"/cpus/cpu@[0-9a-f]+", path)]
    assert len(harts) == system["most_harts"], harts
    assert cells(tree["/cpus"]["timebase-frequency"]) == [system["timebase_hz"]]
    controllers = [cells(tree[path + "/interrupt-controller"]["phandle"])[0] for path in harts]

    def region(base, node):
        high, low, high_bytes, low_bytes = cells(node["reg"])
        assert high << 32 | low == base, node
        return high_bytes << 32 | low_bytes

    plic = cells(tree["/soc/plic@c000000"]["phandle"])[0]
    for device in system["devices"]:
        base = number(device["base"])
        node = tree[f"/soc/{device['name']}@{base:x}"]
        block = json.load(open(system_file.replace("system/reference.json", f"blocks/{device['block']}.json")))
        assert region(base, node) == number(block["window_bytes"])
        # dtc writes a list of strings with \0 between them.
        assert node["compatible"].strip('"').split("\\0") == block["compatible"], node["compatible"]
        if "interrupt" in device:
            assert cells(node["interrupts"]) == [device["interrupt"]] and cells(node["interrupt-parent"]) == [plic]
        if "clock_hz" in device:
            clock = tree[f"/{device['name']}-clock"]
            assert cells(clock["clock-frequency"]) == [device["clock_hz"]]
            assert cells(node["clocks"]) == cells(clock["phandle"])
    places = {"rom": "/soc/{}", "sram": "/soc/{}", "dram": "/memory"}
    for memory in system["memories"]:
        base = number(memory["base"])
        node = tree[places[memory["kind"]].format(memory["name"]) + f"@{base:x}"]
        assert region(base, node) == number(memory["bytes"])

    # Machine software 3, machine timer 7, machine external 11: the causes of the privileged architecture.
    assert cells(tree["/soc/clint@2000000"]["interrupts-extended"]) == \
        [word for hart in controllers for word in (hart, 3, hart, 7)]
    assert cells(tree["/soc/plic@c000000"]["interrupts-extended"]) == \
        [word for hart in controllers for word in (hart, 11)]
    assert cells(tree["/soc/plic@c000000"]["riscv,ndev"]) == [31]
    print(f"{len(tree)} nodes")


if __name__ == "__main__":
    main()
