#!/bin/bash
# dagtap merge, with generated recordings of ranks 0 and 2 of 3. The clock of rank 2 is 3 s behind
# and 20 ppm fast; its wall clock is 40 ms fast.
. "$(dirname "$0")/../cli/lib.sh"

expect_code() { # CODE ARGS...
	local want=$1 code=0
	shift
	"$dagtap" "$@" >"$work/out" 2>"$work/error" || code=$?
	expect "exit code of dagtap $* ($(cat "$work/out" "$work/error"))" $code "$want"
}

"$BUILD_DIR/tests/merge_recordings" "$work"
cd "$work"

# By collectives.
expect_code 0 merge -o both.dagtap rank0.dagtap rank2.dagtap
grep -q '^note: of 3 ranks 1 is missing: 1$' out || fail "the missing rank is not told: $(cat out)"
expect "sources" "$(json both.dagtap info '[clock["source"] for clock in d["clocks"]]')" "['reference', 'collectives']"
expect "collectives" "$(json both.dagtap info 'd["clocks"][1]["collectives"]')" 60
expect "pids" "$(json both.dagtap info '[clock["pids"] for clock in d["clocks"]]')" "[[100], [102]]"
expect "clocks of check and summary" "$(json both.dagtap check 'len(d["clocks"])') $(json both.dagtap summary 'len(d["clocks"])')" "2 2"

# The kernels of both ranks end at the same time, within the uncertainty, which grows towards the
# process's start, 10 s before the first collective; the times of the reference are not changed.
"$dagtap" export --format csv --table activities -o both.csv both.dagtap
"$dagtap" export --format csv --table activities -o rank0.csv rank0.dagtap
"$dagtap" info --json both.dagtap >info.json
python3 - <<'END' || fail "the times of the merged recording"
import csv, json
def ends(path, pid):
    return [int(row["end_ns"]) for row in csv.DictReader(open(path)) if row["process"] == str(pid)]
clock = json.load(open("info.json"))["clocks"][1]
assert (clock["pieces"], clock["uneven_ns"]) == (1, 0), clock
uncertainty = clock["worst_ns"]
zero, two = ends("both.csv", 100), ends("both.csv", 102)
assert zero == ends("rank0.csv", 100) and len(zero) == len(two) == 60, (zero, two)
assert 0 < uncertainty < 25000, uncertainty
off = max(abs(a - b) for a, b in zip(zero, two))
assert off <= uncertainty, (off, uncertainty)
END

# In every view.
"$dagtap" check both.dagtap >check || true
for text in 'rank0.dagtap: its clock is the reference' 'rank2.dagtap: its times are right to ' 'of 3 ranks 1 is missing: 1'; do
	grep -q "^note: $text" check || fail "check does not say: $text"
	for format in perfetto xspace kineto; do
		"$dagtap" export -f --format $format -o exported both.dagtap
		grep -aqF "$text" exported || fail "$format does not say: $text"
	done
done
"$dagtap" summary both.dagtap | grep -q "^clocks  *2 files of ranks on one clock; times are right to " ||
	fail "the summary does not tell the uncertainty"
"$dagtap" export -f --format perfetto-events -o exported both.dagtap
grep -aqF 'rank2.dagtap: its times are right to ' exported || fail "perfetto-events does not tell the uncertainty"
"$dagtap" report -f -o report.html both.dagtap
grep -qF 'rank2.dagtap: its times are right to ' report.html || fail "the report does not tell the uncertainty"
"$dagtap" export -f --format otf2 -o archive both.dagtap
otf2-print -G archive/traces.otf2 >definitions
worst=$(json both.dagtap info 'd["clocks"][1]["worst_ns"]')
grep 'process 102' definitions | grep '^LOCATION_GROUP_PROPERTY' >properties || fail "no properties: $(cat definitions)"
grep -q "DAGTAP::CLOCK_UNCERTAINTY_NS.*UINT64, Value: $worst" properties || fail "OTF2 does not tell the uncertainty: $(cat properties)"
grep -q 'DAGTAP::CLOCK_SOURCE.*collectives' properties || fail "OTF2 does not tell the source: $(cat properties)"
"$dagtap" export -f --format rocpd -o both.db both.dagtap
expect "metadata of rocpd" "$(python3 -c 'import sqlite3
rows = sqlite3.connect("both.db").execute("""SELECT pid, tag, value FROM rocpd_metadata
	JOIN rocpd_info_process P ON tag LIKE "dagtap_clock%/" || P.id ORDER BY pid, tag""")
print([tuple(row) for row in rows])')" "[(100, 'dagtap_clock_source/1', 'reference'), (100, 'dagtap_clock_uncertainty_ns/1', '0'), (102, 'dagtap_clock_source/2', 'collectives'), (102, 'dagtap_clock_uncertainty_ns/2', '$worst')]"
"$dagtap" export -f --format rocpd -o rank0.db rank0.dagtap
expect "metadata of a rank alone" "$(python3 -c 'import sqlite3
print(list(sqlite3.connect("rank0.db").execute("SELECT tag FROM rocpd_metadata WHERE tag LIKE \"dagtap_%\"")))')" "[]"
"$dagtap" export -f --format csv --table processes -o processes.csv both.dagtap
expect "uncertainties in the table" "$(python3 -c 'import csv, json
worst = [str(clock["worst_ns"]) for clock in json.load(open("info.json"))["clocks"]]
rows = sorted(csv.DictReader(open("processes.csv")), key=lambda row: row["process"])
print([row["clock_uncertainty_ns"] for row in rows] == worst)')" True

# The collectives of ranks on two machines, with who was late: rank 0 in every third one, by 0.4 ms
# but for the uncertainty, which is that of the moment.
"$dagtap" collectives --json both.dagtap >collectives.json
python3 - <<'END' || fail "the collectives of the merged recording"
import json
found = json.load(open("collectives.json"))
assert found["several_hosts"] == 0 and len(found["late"]) == 60 and len(found["clocks"]) == 2, found
for row in found["late"]:
    error = row["spread_uncertainty_ns"]
    assert 0 < error < 25000 and abs(row["spread_ns"] - 400000) <= error, row
    assert row["surely_last"] and row["last"]["rank"] == (0 if (row["number"] - 1) % 3 == 0 else 2), row
assert [(row["last"], row["surely_last"]) for row in found["ranks"]] == [(20, 20), (40, 40)], found["ranks"]
assert abs(found["ranks"][0]["late_ns"] - 20 * 400000) <= found["ranks"][0]["late_uncertainty_ns"]
END
"$dagtap" collectives --table ranks both.dagtap >out
grep -q ' surely ' out && grep -q ' right to ' out || fail "the uncertainty is not told: $(cat out)"
"$dagtap" collectives rank0.dagtap >out
grep -q 'right to' out && fail "a rank alone has an uncertainty: $(cat out)"

# The critical path goes to the rank that was late: from rank 0 to rank 2 and back each third time.
"$dagtap" path --json both.dagtap >path.json
python3 - <<'END' || fail "the critical path of the merged recording"
import json
found = json.load(open("path.json"))
zero, two = found["ranks"]
assert (zero["file"], two["file"]) == ("rank0.dagtap", "rank2.dagtap"), found["ranks"]
assert zero["total_ns"] + two["total_ns"] == found["total_ns"] == sum(found["kinds"].values()), found
assert zero["last"] == two["last"] == 20 and found["last_rank_unsure"] == 0, found["ranks"]
assert 0 < found["rank_uncertainty_ns"] < 25000
assert abs(zero["held_up_ns"] - 20 * 400000) <= 20 * 25000
wait = {row["work"]["pid"]: row for row in found["waits"] if row["cause"] == "collective"}
assert wait[100]["for"]["pid"] == 102 and wait[102]["for"]["pid"] == 100, found["waits"]
END
"$dagtap" path both.dagtap >out
grep -q '^rank2.dagtap ' out && grep -q 'another rank, the times are right to ' out || fail "no ranks on the path: $(cat out)"
"$dagtap" path rank2.dagtap >out
grep -q 'another rank' out && fail "a rank alone has others on its path: $(cat out)"

# slewed_job NAME ZERO TWO MOST_NS: merges the recordings of rank 0 and of rank 2, whose clock is
# slewed by 500 ppm for 2 s of the 6 s, into NAME.dagtap. It is converted in pieces, by a bound that
# is nowhere above MOST_NS.
slewed_job() {
	expect_code 0 merge -o "$1.dagtap" "$2" "$3"
	grep -q 'do not run evenly' out && fail "a clock in pieces is said to rest on an assumption: $(cat out)"
	"$dagtap" info --json "$1.dagtap" >info.json
	"$dagtap" export -f --format csv --table activities -o slewed.csv "$1.dagtap"
	python3 - "$4" <<'END' || fail "the times of a clock in pieces"
import csv, json, sys
def ends(pid):
    return [int(row["end_ns"]) for row in csv.DictReader(open("slewed.csv")) if row["process"] == str(pid)]
info = json.load(open("info.json"))
clock = info["clocks"][1]
known = [(row["ns"], row["uncertainty_ns"]) for row in clock["uncertainty"]]
assert clock["pieces"] == len(known) - 1 > 2, clock
# A piece may begin long before the recording, which begins within 2 us of a joint.
begin = next(row["start_ns"] for row in info["processes"] if row["pid"] == 102) - 2000
assert clock["worst_ns"] == max(ns for at, ns in known if at >= begin), clock
def uncertainty(ns):
    for (a, at_a), (b, at_b) in zip(known, known[1:]):
        if a <= ns <= b:
            return at_a + (at_b - at_a) * (ns - a) / (b - a) + 2
zero, two = ends(100), ends(102)
assert len(zero) == len(two) == 60
for a, b in zip(zero, two):
    assert abs(a - b) <= uncertainty(b) < int(sys.argv[1]), (a, b, uncertainty(b))
END
	"$dagtap" check "$1.dagtap" >check || true
	grep -q "^note: $3: its times are right to [0-9.]* us beside the reference.s, by collectives\$" check ||
		fail "check does not tell the bound: $(cat check)"
}
slewed_job slewed-job rank0.dagtap slewed.dagtap 1000000
# With moments on the steady clocks of both machines the bound is much narrower.
slewed_job steady-job steady0.dagtap steady2.dagtap 20000

# By wall clocks, which differ by 40 ms.
expect_code 0 merge -o wall.dagtap rank0.dagtap alone.dagtap
expect "source" "$(json wall.dagtap info '[(clock["source"], clock["worst_ns"]) for clock in d["clocks"]]')" \
	"[('reference', 0), ('wall', 2000000000)]"
expect_code 0 merge -f --wall-error 0.05 -o wall.dagtap rank0.dagtap alone.dagtap
expect "offset" "$(json wall.dagtap info '[(clock["offset_ns"], clock["worst_ns"]) for clock in d["clocks"]][1]')" \
	"(3040000000, 100000000)"

# Two ranks of one machine have its clock.
expect_code 0 merge -o same.dagtap rank1.dagtap rank2.dagtap
expect "machines" "$(json same.dagtap info '[clock["machine"] for clock in d["clocks"]]')" "[0, 0]"

# A rank that is given twice would count twice: as one file under any name, or as a copy.
ln rank0.dagtap hard.dagtap
ln -s rank0.dagtap symbolic.dagtap
cp rank0.dagtap copy.dagtap
for other in rank0 hard symbolic; do
	expect_code 1 merge -o twice.dagtap rank0.dagtap rank2.dagtap $other.dagtap
	grep -q "^dagtap: rank0.dagtap and $other.dagtap are the same file" error || fail "no reason: $(cat error)"
done
for ranks in "rank0 rank2 copy" "rank0 copy rank2" "rank2 rank1 rank0 copy"; do
	expect_code 1 merge -o twice.dagtap $(printf '%s.dagtap ' $ranks)
	grep -q '^dagtap: rank0.dagtap and copy.dagtap hold the same recording of process 100' error || fail "no reason: $(cat error)"
done
[ ! -e twice.dagtap ] || fail "a rank was merged twice"

# A damaged process that starts behind its end gives a recording that can be read.
expect_code 0 merge -o turned.dagtap rank0.dagtap backward.dagtap
expect "sources" "$(json turned.dagtap info '[clock["source"] for clock in d["clocks"]]')" "['reference', 'collectives']"

# What cannot be done is said, and nothing is written.
expect_code 1 merge -o both.dagtap rank0.dagtap rank2.dagtap
grep -q '^dagtap: both.dagtap: exists already; --force replaces it' error || fail "no reason: $(cat error)"
expect_code 1 merge -o again.dagtap both.dagtap rank2.dagtap
grep -q '^dagtap: both.dagtap: is merged already' error || fail "no reason: $(cat error)"
echo text >text
expect_code 1 merge -o again.dagtap rank0.dagtap text
grep -q '^dagtap: text: .*not a .dagtap file' error || fail "no reason: $(cat error)"
expect_code 1 merge -o again.dagtap rank0.dagtap absent.dagtap
mkdir job spools
cp rank0.dagtap rank2.dagtap job
: >spools/100.1.spool
for given in job "rank0.dagtap job" "job rank0.dagtap"; do
	expect_code 1 merge -o again.dagtap $given
	grep -qx 'dagtap: job: is a folder; give the .dagtap file of each rank' error || fail "no advice: $(cat error)"
done
for given in spools "rank0.dagtap spools"; do
	expect_code 1 merge -o again.dagtap $given
	grep -q '^dagtap: spools: is a folder of spools; give the .dagtap file that ' error || fail "no advice: $(cat error)"
done
expect_code 1 merge -o again.dagtap rank0.dagtap absurd.dagtap
grep -q '^dagtap: absurd.dagtap: damaged: the times of process 102 are not possible' error || fail "no reason: $(cat error)"
expect_code 2 merge -o again.dagtap rank0.dagtap
expect_code 2 merge rank0.dagtap rank2.dagtap
expect_code 2 merge -o again.dagtap --wall-error soon rank0.dagtap rank2.dagtap
[ ! -e again.dagtap ] || fail "a merge that failed has written its output"
ls -A | grep -q tmp && fail "a temporary file is left"
true
