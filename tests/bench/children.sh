#!/bin/bash
# children.sh: a benchmark names the child that failed, with its signal or exit code, and its
# command.
. "$SOURCE_DIR/tests/cli/lib.sh"
export TMPDIR=$work
cd "$work"

# A build tree with another program in the place of the one that the benchmark starts.
mkdir -p tree/bin tree/bench
cp "$BUILD_DIR/bin/dagtap-bench" tree/bin
driver=$work/tree/bench/intercept-driver

failing() { # COMMAND...: its last line on standard error, which begins with "dagtap-bench: "
	"$@" >out 2>err && fail "$* did not fail"
	tail -n 1 err
}

begin="env --unset=HSA_TOOLS_LIB DAGTAP_SOFTGPU=kernel_ns=1000,signal_ns=44000 LD_LIBRARY_PATH=$work/tree/lib/dagtap/softgpu"
start_with() { # WHAT the driver does
	printf '#!/bin/sh\n%s\n' "$1" >"$driver"
	chmod +x "$driver"
}

start_with 'kill -SEGV $$'
expect "a child that is killed" "$(failing tree/bin/dagtap-bench intercept)" \
	"dagtap-bench: intercept: killed by signal 11 (Segmentation fault): $begin $driver submit"
start_with 'exit 3'
expect "a child that fails" "$(failing tree/bin/dagtap-bench intercept)" \
	"dagtap-bench: intercept: exit code 3: $begin $driver submit"
rm "$driver"
expect "a child that is not there" "$(failing tree/bin/dagtap-bench intercept)" \
	"dagtap-bench: intercept: exit code 127: $begin $driver submit"

# A forked one, which does a part of the benchmark.
tree/bin/dagtap-bench reference --scale 0.01 --keep run.spool --generate-only >out
cut_short() ( # no file of more than 1 MiB
	ulimit -f 1024
	tree/bin/dagtap-bench reference --keep run.spool
)
expect "a part that is killed" "$(failing cut_short)" \
	"dagtap-bench: reference: killed by signal 25 (File size limit exceeded): load and export"
expect "what is left" "$(ls)" "$(printf 'err\nout\nrun.spool\ntree')"
