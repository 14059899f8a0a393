#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# Every option that perftest has for these four tests is either taken or named in the error, with
# what to use instead: nobody who comes from there is left with "unknown option".

load ../lib/rdmark

# perftest 6.29's long options but for those of its raw_ethernet tests.
known=(port ib-dev ib-port mtu size iters tx-depth qp-timeout sl gid-index all CPU-freq connection qp events vector
	inline_size outs mcg comm_rdma_cm rdma_cm tos hop_limit help MGID rx-depth bidirectional cq-mod noPeak version
	report-cycles report-histogrm report-unsorted atomic_type dualport post_list duration margin limit_bw limit_msgrate
	report-counters force-link run_infinitely report_gbits use-srq no_lock use-null-mr report-both reversed pkey_index
	burst_size typical_pkt_size rate_limit rate_limit_type rate_units output cpu_util out_json out_json_file latency_gap
	flow_label retry_count dont_xchg_versions payload_file_path use_cuda use_cuda_bus_id use_cuda_dmabuf use_rocm
	use_neuron use_neuron_dmabuf use_hl use_mlu mmap mmap-offset ipv6 ipv6-addr report-per-port odp use_hugepages
	use_old_post_send mr_per_qp dlid tclass wait_destroy flows flows_burst perform_warm_up recv_post_list aes_xts
	encrypt_on_tx sig_before aes_block_size kek_path credentials_path data_enc_keys_number data_enc_key_app_path
	log_dci_streams log_active_dci_streams disable_pcie_relaxed use_ooo congest_type bind_source_ip write_with_imm no_ddp
	unsolicited_write connectionless)
letters=abcdefghilmnopqrstuwxyzACDFHILMNOQRSTUVWX

cli() {
	start cli "$@"
	finish cli
}

# refused OPTION: exit 2, the option is named, there is advice.
refused() {
	cli send_bw "$1"
	[[ ${status[cli]} == 2 ]] || fail "$1: status ${status[cli]}"
	says cli.err "${1%%=*}" 'perftest' 'Fix: '
	silent cli.out
}

# Taken, or refused for what it is: by its name, not as something unknown.
is_known() {
	local text
	cli send_bw "$@"
	contents cli.err text
	[[ ${status[cli]} != 2 || ($text != *unknown* && $text == *"$1"*) ]]
}

@test "no long option of perftest is unknown" {
	local name unknown=''
	for name in "${known[@]}"; do
		is_known "--$name" --help || unknown+=" --$name"
	done
	[[ ! $unknown ]] || fail "unknown:$unknown"
}

@test "no letter of perftest is unknown" {
	local unknown='' i
	for ((i = 0; i < ${#letters}; i++)); do
		is_known "-${letters:i:1}" || unknown+=" -${letters:i:1}"
	done
	[[ ! $unknown ]] || fail "unknown:$unknown"
}

@test "options that rdmark lacks are refused with advice, whatever value follows" {
	local option
	for option in --rdma_cm --comm_rdma_cm --mcg --MGID --dualport --margin --report-cycles \
		--report-counters --limit_bw --limit_msgrate --run_infinitely --cpu_util --hop_limit --outs \
		--atomic_type --use_rocm --use_hugepages --mmap \
		--mr_per_qp --odp --rate_limit --burst_size --ipv6 --bind_source_ip --force-link --pkey_index --flow_label \
		--recv_post_list --write_with_imm --dont_xchg_versions --retry_count --wait_destroy \
		--latency_gap; do
		refused "$option"
	done
	refused --use_rocm=0
	for option in -R -z -g -O -C; do
		refused "$option"
	done
	for option in -M -f -W -w -y -L -o -A; do
		cli send_bw "$option" 1
		ended cli 2
		says cli.err "$option/--" 'Fix: '
	done
}

@test "in a bundle, too" {
	cli send_bw -aFR
	ended cli 2
	says cli.err '-R/--rdma_cm'
}
