#!/bin/bash
# terminal.sh: names that programs give: the terminal interprets nothing in them, tables stay
# aligned, and lines are no longer than the terminal is wide.
. "$(dirname "$0")/lib.sh"

python3 - "$work" <<-'END'
	import json, sys
	names = ["red \x1b[31m", "two\nlines", "C1 \u009b1m", "Kern\u00e4l\u00a0\u4e00", "k" * 300]
	rows = []
	for i, name in enumerate(names):
	    call = {"correlation": i + 1}
	    rows.append(dict(ph="X", cat="cuda_runtime", name="cudaLaunchKernel", pid=9, tid=9, ts=20 * i, dur=2, args=call))
	    rows.append(dict(ph="X", cat="kernel", name=name, pid=0, tid=7, ts=20 * i + 3, dur=5 + i,
	                     args=dict(call, device=0, stream=7)))
	    rows.append(dict(ph="X", cat="user_annotation", name="scope " + name, pid=9, tid=9, ts=20 * i, dur=4))
	text = json.dumps(dict(schemaVersion=1, traceEvents=rows))
	open(sys.argv[1] + "/names.json", "w").write(text)
	# A byte that begins no character, and a character that is cut off.
	open(sys.argv[1] + "/bytes.json", "wb").write(text.encode().replace(b"two", b"\xff\xe4\xb8"))
END
file=$work/names.json

for command in summary "summary --by scope" path "diff $file" info check; do
	"$dagtap" $command "$file" >"$work/out" || fail "$command: exit $?"
	! LC_ALL=C grep -q $'[\x01-\x09\x0b-\x1f\x7f]' "$work/out" || fail "$command prints control characters"
	! LC_ALL=C grep -q $'\xc2[\x80-\x9f]' "$work/out" || fail "$command prints control characters of C1"
done
for command in summary "summary --by scope" path "diff $file" info check "export --format csv --table scopes -o -"; do
	"$dagtap" $command "$work/bytes.json" >"$work/out" || fail "$command: exit $?"
	iconv -f utf-8 -t utf-8 "$work/out" >"$work/again" || fail "$command passes on what is no UTF-8"
done
"$dagtap" summary "$work/bytes.json" | grep -q "???lines$" || fail "bytes that are no characters are not shown as such"
"$dagtap" summary "$file" >"$work/out"
for text in "red ?\[31m$" "two?lines$" "C1 ??1m$" "Kernäl.*一$" " k\{300\}$"; do
	grep -q "$text" "$work/out" || fail "no $text in $(cat "$work/out")"
done
"$dagtap" summary "$work/"$'a\x1b[31mb' 2>"$work/error" && fail "a file that is not there"
grep -qF "a?[31mb" "$work/error" || fail "file not named: $(cat -v "$work/error")"

# JSON keeps them as they are.
expect "names in JSON" "$(json "$file" summary 'sorted(map(len, (r["name"] for r in d["kernels"])))')" "[6, 8, 9, 9, 300]"

# On a terminal no line is longer than it; a character counts once, and all columns stay below their
# heads.
export TERM=xterm NO_COLOR=1
# The reader stops at a byte that follows the output, not at the hang-up: of a terminal whose other
# end is closed, Linux may report the end before what was written last. The command's exit status
# is on_terminal's.
on_terminal() { # COLUMNS ARGS...
	python3 -S - "$@" <<-'END'
		import fcntl, os, pty, struct, sys, termios
		reader, terminal = pty.openpty()
		fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
		runner = os.fork()
		if runner == 0:
		    files = [(os.POSIX_SPAWN_DUP2, terminal, 0), (os.POSIX_SPAWN_DUP2, terminal, 1),
		             (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)]  # the progress
		    status = 127
		    try:
		        command = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, file_actions=files)
		        status = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
		    finally:
		        os.write(terminal, b"\0")
		        os._exit(status & 255)
		out = b""
		while not out.endswith(b"\0"):
		    out += os.read(reader, 65536)
		sys.stdout.buffer.write(out[:-1].replace(b"\r\n", b"\n").replace(b"\r\x1b[K", b""))
		sys.stdout.flush()
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(runner, 0)[1]))
	END
}
# The longest lines of a table, in characters: without names they need 56.
longest() {
	sed -n '/^count/,/^$/p' | python3 -c 'import sys; print(max(len(line.rstrip("\n")) for line in sys.stdin))'
}
expect "longest line on a terminal of 80" "$(on_terminal 80 "$dagtap" summary "$file" | longest)" 80
expect "on one of 200" "$(on_terminal 200 "$dagtap" summary "$file" | longest)" 200
on_terminal 80 "$dagtap" summary "$file" | grep -q "  kkk*\.\.\.$" || fail "not told that a name goes on"
# Of a path of scopes the end is what tells it from others.
on_terminal 80 "$dagtap" summary --by scope "$file" | grep -q "  \.\.\.kkk*$" || fail "the end of a path is cut"
[ "$("$dagtap" summary "$file" | longest)" -gt 300 ] || fail "a pipe gets less than whole names"

# Tables fit terminals of 40 to 200 columns, and no two kernels of PyTorch look alike, which all
# begin so; a pipe and --full-names have whole names.
torch=$SOURCE_DIR/tests/data/torch-small.json
jax=$SOURCE_DIR/tests/data/jax-steps.dagtap
kernels() { # the last column of the first table: of equal names one remains
	sed -n '/^count/,/^$/p' | sed '/^$/q' | sed 1d | sed 's/.*  //' | sort -u | grep -c .
}
for columns in 40 80 120 200; do
	on_terminal $columns "$dagtap" summary "$torch" >"$work/kernels"
	[ "$(kernels <"$work/kernels")" = 6 ] || fail "not 6 different kernels at $columns columns: $(cat "$work/kernels")"
	for command in "graph --top 9" "graph --advise" "scopes" "scopes $jax XlaModule:*train*" "summary --by scope" path \
			"diff $jax" gaps memory "memory --table time" check info "help summary" help; do
		file=$jax
		case $command in help* | scopes\ /*) file= ;; esac
		# shellcheck disable=SC2086
		on_terminal $columns "$dagtap" $command $file >"$work/out"
		expect "lines of dagtap $command that are wider than $columns" \
			"$(LC_ALL=C.UTF-8 grep -cE ".{$((columns + 1))}" "$work/out")" 0
		[ -s "$work/out" ] || fail "dagtap $command prints nothing on $columns columns"
	done
done
# A line that is broken loses nothing but the space.
"$dagtap" check "$jax" | tr -s ' \n' '\n' >"$work/words"
on_terminal 4000 "$dagtap" check "$jax" | tr -s ' \n' '\n' | cmp - "$work/words" || fail "a wide terminal gets something else than a pipe"

# Colours on a terminal that has them, and nothing else in them than without.
plain() { sed 's/\x1b\[[0-9;]*m//g'; }
coloured() { LC_ALL=C grep -q $'\x1b\[[0-9;]*m'; }
for command in summary check path memory; do
	on_terminal 80 "$dagtap" $command "$jax" >"$work/without"
	! coloured <"$work/without" || fail "$command has colours in spite of NO_COLOR"
	NO_COLOR='' on_terminal 80 "$dagtap" $command "$jax" >"$work/with"
	coloured <"$work/with" || fail "$command has no colours"
	plain <"$work/with" | cmp - "$work/without" || fail "the colours of $command change its text"
	! NO_COLOR='' TERM=dumb on_terminal 80 "$dagtap" $command "$jax" | coloured || fail "$command has colours on a dumb terminal"
	! NO_COLOR='' "$dagtap" $command "$jax" | coloured || fail "$command has colours in a pipe"
	! NO_COLOR='' on_terminal 80 "$dagtap" $command --json "$jax" | coloured || fail "$command --json has colours"
done
for command in "memory --table time" "path --limit 3" check info; do
	# shellcheck disable=SC2086
	"$dagtap" $command --csv "$jax" >"$work/piped"
	# shellcheck disable=SC2086
	NO_COLOR='' on_terminal 80 "$dagtap" $command --csv "$jax" | cmp - "$work/piped" || fail "$command --csv differs on a terminal"
done
on_terminal 200 "$dagtap" summary "$torch" | grep -q "  vectorized_elementwise_kernel<AUnaryFunctor<MulFunctor>>$" || fail "no short name"
for command in summary "graph --top 30" "path --limit 0"; do
	# shellcheck disable=SC2086
	"$dagtap" $command "$torch" >"$work/piped"
	! grep -q "\.\.\.$" "$work/piped" || fail "a pipe gets less than whole names of $command"
done
"$dagtap" summary "$torch" >"$work/piped"
on_terminal 4000 "$dagtap" summary --full-names "$torch" | cmp - "$work/piped" || fail "--full-names differs from a pipe"

# A program's own name, in the line at the end and in the name of the file.
name=$'e\x1b[31m\xffr'
mkdir "$work/named"
cd "$work/named"
ln -s "$examples/eager" "$name"
cp /bin/true "t$name"
launch record --softgpu -- "./$name" 10 >/dev/null 2>"$work/error" || fail "record of a program with such a name"
launch record --softgpu -- "./t$name" 2>>"$work/error" || fail "record of one that uses no GPU"
launch record --softgpu -o "$name.dagtap" -- "./$name" 10 >/dev/null 2>>"$work/error" || fail "record to such a file"
! LC_ALL=C grep -q $'[\x01-\x09\x0b-\x1f\x7f]' "$work/error" || fail "the end line: $(cat -v "$work/error")"
iconv -f utf-8 -t utf-8 "$work/error" >/dev/null || fail "the end line is no UTF-8"
set -- dagtap-*.dagtap
expect "recordings" $# 1
expect "the name by default" "${1%-*}" "dagtap-e_[31m_r"
[ -e "$name.dagtap" ] || fail "the name that was asked for was changed"
