#!/bin/bash
# sdk-allreduce.sh record|alone PROGRAM ARGS... NAME=COUNT...: a program with RCCL that has a
# profiler on librocprofiler-sdk.so.1, under `dagtap record` or alone: the profiler gets the calls
# of RCCL that the program makes, COUNT of each NAME, and those that are recorded.
if [ -z "${IN_NAMESPACE:-}" ]; then
	unshare --mount --map-root-user mount -t tmpfs tmpfs /sys/class 2>/dev/null || {
		echo "not run: this machine gives no mount namespace"
		exit 77
	}
	IN_NAMESPACE=1 exec unshare --mount --map-root-user bash "$0" "$@"
fi
bash "$(dirname "$0")/make-topology.sh" /sys/class 2 || exit 1
. "$SOURCE_DIR/tests/cli/lib.sh"
how=$1
shift
program=() made=()
for word; do
	case $word in
	*=*) made+=("$word") ;;
	*) program+=("$word") ;;
	esac
done
program[0]=$examples/${program[0]}
client=$BUILD_DIR/tests/sdk/libsdk-client.so
softgpu=gfx90a,gpus=2,kernel_ns=1000

if [ "$how" = record ]; then
	launch record --sdk --calls all -q "--softgpu=$softgpu" -o "$work/run.dagtap" -- \
		bash -c 'exec ${RUN_WITH:-env} CLIENT_OUT=$0 LD_PRELOAD="$1:$LD_PRELOAD" "${@:2}"' "$work/client" "$client" \
		"${program[@]}" >"$work/run.out" || fail "the program exited with $?"
	recording=$work/run.dagtap
else
	mkdir "$work/spools"
	env DAGTAP_SPOOL="$work/spools" CLIENT_OUT="$work/client" DAGTAP_SOFTGPU="$softgpu" LD_PRELOAD="$client" \
		LD_LIBRARY_PATH="$BUILD_DIR/lib/dagtap/sdk:$BUILD_DIR/lib/dagtap/softgpu:$ROCM_LIBRARIES" \
		"${program[@]}" >"$work/run.out" || fail "the program exited with $?"
	recording=$(echo "$work"/spools/*.spool)
fi
"$dagtap" check "$recording" >"$work/check.out" || fail "$(cat "$work/check.out")"
"$dagtap" export --format csv --table calls -o "$work/calls.csv" "$recording"
python3 "$SOURCE_DIR/tests/sdk/sdk_rccl.py" "$work/client" "$work/calls.csv" "${made[@]}"
