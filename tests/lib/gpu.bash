# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # what rdmark.bash sets
#
# After rdmark.bash:
#
#   driver [KIND]    what is started from now on finds the stand-in for CUDA's driver of that KIND
#                    (tests/standin/cuda/README.md): cuda if not given, none: none
#   cell NAME DIRECTION ROUTE    sets cell to the fields of that row of gdr_bw's table in client.out
#
#   amd_driver [KIND]  the same for AMD's (tests/standin/hip/README.md), with the GPUs that SIMHIP_GPUS says
#
# On the verbs stand-in GPU memory can be had by dma-buf and by peermem, on soft-RoCE by peermem.

driver() {
	unset LD_LIBRARY_PATH
	[[ ${1-} != none ]] || return 0
	export LD_LIBRARY_PATH=${RDMARK_CUDA:-$root/build/tests}/${1:-cuda}
	[[ -e $LD_LIBRARY_PATH/libcuda.so.1 ]] || fail "no $LD_LIBRARY_PATH/libcuda.so.1 (make sim)"
	[[ ${RDMARK_PRELOAD-} ]] || export SIMCUDA_TOUCHABLE=1
}

amd_driver() {
	export LD_LIBRARY_PATH=${RDMARK_CUDA:-$root/build/tests}/${1:-hip}
	compgen -G "$LD_LIBRARY_PATH/libamdhip64.so.*" >/dev/null || fail "no $LD_LIBRARY_PATH/libamdhip64.so.* (make sim)"
}

# The routes that there are here, best first: the one that is taken.
routes() { if [[ ${RDMARK_PRELOAD-} ]]; then echo dmabuf peermem; else echo peermem; fi; }

cell() {
	local line
	while IFS= read -r line; do
		read -ra cell <<<"$line"
		[[ "${cell[*]:0:3}" != "$1 $2 $3" ]] || return 0
	done <client.out
	fail "no cell $*"
}
