#!/usr/bin/env python3
"""Writes src/types.rs and src/functions.rs from the published cust_raw 0.11.3.

    python3 generate.py PATH/TO/cust_raw-0.11.3/src/cuda.rs PATH/TO/cust-0.3.2/src

Only what the sources of cust name, what EXTRA_FUNCTIONS names, and the types that these
reach are kept.  Signatures are taken from the bindings token by token; nothing is typed in by hand.
"""
import pathlib
import re
import sys

# Functions that this workspace calls itself and cust does not.
EXTRA_FUNCTIONS = """
cuGetErrorName cuDeviceGetUuid_v2 cuFuncSetAttribute cuStreamBeginCapture_v2 cuStreamEndCapture
cuStreamIsCapturing cuGraphInstantiateWithFlags cuGraphUpload cuGraphLaunch cuGraphExecDestroy
cuMemHostAlloc cuEventRecord cuEventSynchronize cuEventElapsedTime cuEventQuery cuStreamQuery
cuDeviceGetPCIBusId cuMemsetD8Async
""".split()

HEADER = "// Written by generate.py from cust_raw 0.11.3 (bindgen 0.58.1, cuda.h 11.4). Do not edit.\n\n"


def items(text):
    """Top-level items of a bindgen file: (attributes + item) strings."""
    depth, start, in_string = 0, 0, False
    for at, char in enumerate(text):
        if char == '"' and text[at - 1] != "\\":
            in_string = not in_string
        if in_string:
            continue
        if char in "{([":
            depth += 1
        elif char in "})]":
            depth -= 1
        if depth == 0 and char in ";}":
            rest = text[at + 1 : at + 2]
            if char == "}" and rest == ";":
                continue
            yield text[start : at + 1].strip()
            start = at + 1


def defined(item):
    """Name that an item defines, or None."""
    for pattern in (
        r"pub (?:struct|union|enum|type|const) (\w+)",
        r"pub use self::\w+ as (\w+)",
        r"pub fn (\w+)",
    ):
        found = re.search(pattern, item)
        if found:
            return found.group(1)
    return None


def main():
    bindings, cust = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = "\n".join(
        line for line in bindings.read_text().splitlines() if not line.startswith(("/*", "//"))
    )
    definitions, impls, functions = {}, {}, {}
    for item in items(text):
        body = re.sub(r"#\[[^\]]*\]\s*", "", item)
        if item.startswith("#[test]"):
            continue
        if " Default for " in body:
            continue  # zeroed(), although some structs hold enums without a value 0; cust needs none
        implementation = re.match(r"impl(?:<[^>]*>)?\s+(?:[\w:]+ for )?(\w+)", body)
        if implementation:
            impls.setdefault(implementation.group(1), []).append(item)
        elif body.startswith('extern "C" {'):
            functions[defined(item)] = item
        elif defined(item):
            definitions[defined(item)] = item
        else:
            sys.exit(f"cannot classify: {item[:80]!r}")

    named = set()
    for source in cust.rglob("*.rs"):
        code = re.sub(r"//.*", "", source.read_text())
        named |= set(re.findall(r"\w+", code))
    wanted_functions = sorted(f for f in functions if f in named or f in EXTRA_FUNCTIONS)
    missing = set(EXTRA_FUNCTIONS) - set(functions)
    if missing:
        sys.exit(f"not in the bindings: {missing}")

    reached, queue = set(), [n for n in definitions if n in named]
    for name in wanted_functions:
        queue += re.findall(r"\w+", functions[name])
    while queue:
        name = queue.pop()
        if name in reached or name not in definitions:
            continue
        reached.add(name)
        for item in [definitions[name], *impls.get(name, [])]:
            queue += re.findall(r"\w+", item)

    out = pathlib.Path(__file__).parent / "src"
    parts = []
    for name in definitions:  # the order of the bindings
        if name in reached:
            parts += [definitions[name], *impls.get(name, [])]
    (out / "types.rs").write_text(HEADER + "\n".join(parts) + "\n")

    codes = [c for c, _ in re.findall(r"(CUDA_\w+) = (\d+)", definitions["cudaError_enum"])]
    lines = [HEADER + "use crate::types::*;\n\ncrate::results! {"]
    lines += [f"    {code}," for code in codes]
    lines += ["}\n\ncrate::driver_functions! {"]
    for name in wanted_functions:
        signature = re.search(r"pub (fn \w+\(.*?\)\s*->\s*CUresult;)", functions[name], re.S)
        if not signature:
            sys.exit(f"does not return CUresult: {name}")
        if name == "cuGetErrorString":  # answered by lib.rs
            signature = signature.group(1).replace("fn cuGetErrorString", "fn driver_error_string")
            lines.append(f'    #[symbol = "cuGetErrorString"]\n    {" ".join(signature.split())}')
            continue
        lines.append(f'    #[symbol = "{name}"]\n    {" ".join(signature.group(1).split())}')
    lines.append("}")
    (out / "functions.rs").write_text(
        "\n".join(lines).replace("::std::os::raw::", "::core::ffi::").replace(", )", ")") + "\n"
    )
    print(f"{len(wanted_functions)} functions, {len(reached)} types and constants")


main()
