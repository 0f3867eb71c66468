#!/usr/bin/env python3
"""gen-amd-occupancy.py LLVM_BIN: writes the kernels by which tests/trace/test_trace_occupancy.c
compares our occupancy on AMD GPUs with that of LLVM's compiler.

LLVM_BIN is the folder of llc and llvm-objcopy of LLVM 19 (Debian: llvm-19). For each processor and
each way to run waves it compiles kernels that take a chosen number of vector registers, of bytes of
LDS and of work-items. A row has what dagtap records of such a kernel (the two words of its
descriptor), and the waves of a SIMD that llc prints of it ("; Occupancy: 10").
"""
import re
import struct
import subprocess
import sys
import tempfile

PROCESSORS = {
    "gfx906": [""], "gfx90a": [""], "gfx942": [""],
    **{name: ["+wavefrontsize32", "+wavefrontsize32,+cumode", "+wavefrontsize64", "+wavefrontsize64,+cumode"]
       for name in ("gfx1010", "gfx1030", "gfx1036", "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151",
                    "gfx1152", "gfx1200", "gfx1201")},
}
DESCRIPTOR_BYTES = 64

# Registers, bytes of LDS, waves of a workgroup. LDS in KiB: the compiler does not round as a GPU
# does.
KERNELS = [(registers, 0, 1) for registers in (24, 48, 49, 64, 72, 97, 104, 128, 169, 256)]
KERNELS += [(8, kib * 1024, 1) for kib in (1, 5, 16, 33, 64)]
KERNELS += [(8, kib * 1024, waves) for kib in (0, 5, 20) for waves in (2, 3, 8, 16)]


def module(work_items_of_wave):
    text = ""
    for i, (registers, lds_bytes, waves) in enumerate(KERNELS):
        if lds_bytes:
            text += f"@lds{i} = internal addrspace(3) global [{lds_bytes} x i8] undef, align 16\n"
        store = f"store volatile i8 1, ptr addrspace(3) @lds{i}" if lds_bytes else ""
        text += (f'define amdgpu_kernel void @k{i}() "amdgpu-flat-work-group-size"="1,{waves * work_items_of_wave}" {{\n'
                 f'  call void asm sideeffect "", "~{{v{registers - 1}}}"()\n  {store}\n  ret void\n}}\n')
    return text


def rows(folder, processor, features):
    wave = 32 if "size32" in features else 64
    with tempfile.TemporaryDirectory() as work:
        with open(f"{work}/k.ll", "w") as file:
            file.write(module(wave))
        command = [f"{folder}/llc", "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={processor}", f"-mattr={features}", f"{work}/k.ll"]
        text = subprocess.run(command + ["-o", "-"], check=True, capture_output=True, text=True).stdout
        subprocess.run(command + ["-filetype=obj", "-o", f"{work}/k.o"], check=True)
        subprocess.run([f"{folder}/llvm-objcopy", "-O", "binary", "--only-section=.rodata", f"{work}/k.o", f"{work}/k.bin"], check=True)
        with open(f"{work}/k.bin", "rb") as file:
            descriptors = file.read()
    occupancies = re.findall(r"; Occupancy: (\d+)", text)
    assert len(occupancies) == len(KERNELS) and len(descriptors) == len(KERNELS) * DESCRIPTOR_BYTES, processor
    for i, (_, lds_bytes, waves) in enumerate(KERNELS):
        descriptor = descriptors[i * DESCRIPTOR_BYTES:]
        assert struct.unpack_from("<I", descriptor, 0)[0] == lds_bytes, processor
        rsrc1, properties = struct.unpack_from("<I", descriptor, 48)[0], struct.unpack_from("<H", descriptor, 56)[0]
        yield f"{processor},{waves * wave},{lds_bytes},{rsrc1:#x},{properties:#x},{occupancies[i]}"


def main():
    print("processor,work_items,lds_bytes,rsrc1,properties,waves_of_simd")
    for processor, ways in PROCESSORS.items():
        for features in ways:
            print("\n".join(rows(sys.argv[1], processor, features)))


main()
