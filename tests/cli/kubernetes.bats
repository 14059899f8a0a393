#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash reads and sets
#
# contrib/kubernetes: what the manifests say, and what their pods start, run here. No cluster has read them.

load ../lib/rdmark

setup_file() {
	python3 -c 'import yaml' 2>/dev/null || skip_file 'no python3-yaml here (make deps)'
	need_device
}

# pods: of the objects in doc.json, what a pod is made from.
pods='.[] | (.spec.jobTemplate.spec // .spec).template | select(.) | .spec'

# manifest FILE: as JSON, an array. Fails if it has keys or types that Kubernetes does not know.
manifest() { "$lib/manifest" "$root/contrib/kubernetes/$1"; }

@test "each manifest: kinds that there are; selectors that match; only what a pod needs, and the key as only root reads it" {
	local file
	for file in "$root"/contrib/kubernetes/*.yaml; do
		echo "${file##*/}"
		manifest "${file##*/}" >doc.json
		jq -e 'all(.[]; [.apiVersion, .kind] | IN(["v1", "Service"], ["apps/v1", "DaemonSet"], ["batch/v1", "Job"], ["batch/v1", "CronJob"]))
			and all(.[]; .metadata.name | test("^[a-z0-9-]+(NODE)?$"))' doc.json
		jq -e '[.[] | select(.kind == "DaemonSet") | .spec.selector.matchLabels == .spec.template.metadata.labels] | all' doc.json
		jq -e "[$pods] | length == 1 and all(.[]; .hostNetwork and .dnsPolicy == \"ClusterFirstWithHostNet\"
			and (.volumes | map(.secret.defaultMode // empty) == [256])
			and ([.volumes[].name] == [.containers[].volumeMounts[].name])
			and all(.containers[]; .image == \"IMAGE\" and .resources.limits[\"rdma/hca_shared_devices_a\"] == 1
				and .securityContext == {\"allowPrivilegeEscalation\": false, \"readOnlyRootFilesystem\": true,
					\"capabilities\": {\"drop\": [\"ALL\"], \"add\": [\"IPC_LOCK\"]}}))" doc.json
		# A probe's port is one of the container's; on the host's network it is the program's, too.
		jq -e "[$pods | .containers[] | ([.ports[]?.name]) as \$names | .[\"startupProbe\", \"readinessProbe\", \"livenessProbe\"]
			| select(.) | .tcpSocket.port | IN(\$names[])] | all" doc.json
		# A Job's pod is not started again in its place, and what no second try mends is not tried again.
		jq -e '[.[] | (.spec.jobTemplate.spec // .spec) | select(.podFailurePolicy)
			| .template.spec.restartPolicy == "Never" and .activeDeadlineSeconds > 0
			and ([.podFailurePolicy.rules[] | select(.action | startswith("Fail")) | .onExitCodes.values[]] | contains([2, 77]))
			and ([.podFailurePolicy.rules[] | select(.action | startswith("Fail")) | .onExitCodes.values[]]
				| any(IN(3, 4, 0)) | not)] | all' doc.json
	done
	((${#file} > 0)) && [[ $(find "$root/contrib/kubernetes" -name '*.yaml' | wc -l) == 3 ]]
}

@test "a key that is misspelt, of another type, in another place or missing is found" {
	local file edit wanted
	while IFS='|' read -r file edit wanted; do
		sed "$edit" "$root/contrib/kubernetes/$file" >edited.yaml
		! cmp -s edited.yaml "$root/contrib/kubernetes/$file" || fail "$edit changes nothing"
		run "$lib/manifest" edited.yaml
		[[ $status == 1 && $output == *"$wanted"* ]] || fail "$edit: $output"
	done <<-'END'
		server.yaml|s/readOnlyRootFilesystem/readOnlyRootFileSystem/|readOnlyRootFileSystem: there is no such key
		server.yaml|s/hostNetwork: true/hostNetwork: "true"/|spec.hostNetwork: 'true' is not of type bool
		server.yaml|s/^kind: DaemonSet/kind: DaemonSets/|there is no such kind here
		server.yaml|/^  selector:/,+2d|DaemonSet.spec.selector is missing
		check.yaml|s/backoffLimit: 2/backoffLimit: two/|backoffLimit: 'two' is not of type int
		check.yaml|s/FailJob/FailPod/|action: not one of
		check.yaml|s/restartPolicy: Never/restartPolicy: never/|restartPolicy: not one of
		pairs.yaml|s/value: "8"/value: 8/|value: 8 is not of type str
		pairs.yaml|$acompletions: 8|Job.completions: there is no such key
	END
}

# words FILE: what the first container starts, in the array $command; in the place of the cluster's, names of here.
words() {
	mapfile -t command < <(manifest "$1" | jq -r "$pods | .containers[0].command[]" | sed "s|/etc/rdmark/key|$PWD/key|; s|^PEER\$|$host|; s|^18515\$|${2:-0}|")
}

@test "Containerfile: what it copies and makes is there, and what is built here stays out of it" {
	local file=$root/contrib/Containerfile name
	while read -r name; do [[ -e $root/$name ]] || fail "$name"; done < <(sed -n 's/^COPY \([^ ]*\) .*/\1/p' "$file")
	[[ $(sed -n 's/^RUN make \([a-z]*\) .*/\1/p' "$file") == deb ]]
	grep -q '^rpm deb:' "$root/Makefile"
	[[ $(grep -v '^#' "$root/.dockerignore" | sort) == $'/.git\n/build' ]]
}

@test "server.yaml serves check.yaml, and nobody without the key; codes of check.yaml are what its policy knows" {
	local command deadline=200
	export SIMVERBS_CPU=200 # a run that lacked its CPU misses nothing
	(umask 077 && head -c 32 /dev/urandom >key)
	words server.yaml
	[[ ${command[*]} == 'rdmark server -p 0 --auth=key:'* ]]
	start_heard server "${command[@]}" --ready-fd 1
	words check.yaml "$port"
	start check "${command[@]}" -s 64 --min-bw 0.001
	finish check
	ended check 0
	start check "${command[@]}" -s 64 --min-bw 100000
	finish check
	ended check 6
	start check write_bw -p "$port" --auth=none "$host"
	finish check
	[[ ${status[check]} == [23] ]] || ended check 2
	start check "${command[@]}" -d no_such
	finish check
	ended check 2
	words check.yaml 1
	start check "${command[@]}" --connect-timeout 0
	finish check
	ended check 4
}

@test "server.yaml: a probe's connection is closed by it, and costs no client anything" {
	local command deadline=200
	(umask 077 && head -c 32 /dev/urandom >key)
	words server.yaml
	start_heard server "${command[@]}" --ready-fd 1
	(exec {probe}<>"/dev/tcp/$host/$port")
	start check write_bw -p "$port" -n 20 --auth=key:key "$host"
	finish check
	ended check 0
}

@test "pairs.yaml: an Indexed Job that its own Service names; as many pods as the script has hosts" {
	manifest pairs.yaml >doc.json
	jq -e '.[0].metadata.name as $service | .[1].spec as $job | $job.template.spec as $pod
		| .[0].kind == "Service" and .[1].kind == "Job" and $job.completionMode == "Indexed"
		and $job.completions == $job.parallelism and $pod.subdomain == $service and $pod.restartPolicy == "Never"
		and ($pod.containers[0].env | from_entries).NODES == "\($job.completions)"
		and .[0].spec.selector == $pod.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchLabels
		and $job.backoffLimitPerIndex == 1 and ($job.podFailurePolicy.rules | map(.action) | index("FailIndex")) != null' doc.json
}

@test "pairs.yaml: each pod is the host of its index" {
	local i
	(umask 077 && head -c 32 /dev/urandom >key)
	manifest pairs.yaml | jq -r '.[1].spec.template.spec.containers[0].command[2]' |
		sed "s|START|$((EPOCHSECONDS + 2))|; s|/etc/rdmark/key|$PWD/key|; s|/tmp/hosts|hosts\$JOB_COMPLETION_INDEX|g
			s|rdmark-pairs run |&--port \$((18600 + JOB_COMPLETION_INDEX)) |" >pod # pods have addresses of their own
	for i in 0 1; do
		NODES=2 JOB_COMPLETION_INDEX=$i PATH=$RDMARK_BIN:$PATH start "pod$i" "$(type -P bash)" pod
	done
	finish pod0 pod1
	ended pod0 0
	ended pod1 0
	jq -es 'map(select(.kind == "player") | .host) == ["rdmark-pairs-0.rdmark-pairs", "rdmark-pairs-1.rdmark-pairs"]' pod?.out
	# There is no such name here, so the pair is tried in vain.
	jq -es 'map(select(.kind == "pair")) | length == 2 and all(.status == "failed" and .options == null)' pod?.out
}
