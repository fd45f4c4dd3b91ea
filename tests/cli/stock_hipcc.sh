#!/usr/bin/env bash
# The kernels are ordinary HIP: AMD's own compiler driver takes each as it is, for a real GPU.
. "$(dirname "$0")/lib.sh"
for source in "$UM_SOURCE"/kernels/*.hip; do
	check "$(basename "$source")" hipcc --offload-arch=gfx90a -Wall -Wextra -Werror \
		-Wno-unused-command-line-argument -I "$UM_BUILD/include" --cuda-device-only -fsyntax-only "$source"
done
finish
