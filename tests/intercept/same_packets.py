"""same_packets.py BARE TRACED: compares what reached the device in two runs of one program:
FOLDER/NAME.report (the software GPU's counters) and NAME.packets. Addresses differ from run to run:
kernels and arguments are compared by the order in which they first appear, signals by being there
or not."""
import collections
import json
import sys

COUNTERS = ("packets_kernel_dispatch", "packets_barrier_and", "packets_barrier_or",
            "packets_agent_dispatch", "packets_vendor", "packets_invalid_type", "barrier_bits",
            "doorbells", "copies", "dispatches_blit", "queues_created", "handlers_armed")
KERNEL_DISPATCH, BARRIER_AND, BARRIER_OR = 2, 3, 5


class Names:
    """Gives each new address the next number."""

    def __init__(self):
        self.numbers = {0: 0}

    def __getitem__(self, address):
        return self.numbers.setdefault(address, len(self.numbers))


def read_queues(path):
    queues = collections.defaultdict(dict)
    for line in open(path):
        queue, index, *words = line.split()
        queues[int(queue)][int(index)] = [int(word, 16) for word in words]
    return [[packets[index] for index in sorted(packets)] for _, packets in sorted(queues.items())]


def normalise(words, kernels, arguments):
    """The packet without addresses, and whether it has a completion signal."""
    kind = words[0] & 0xff
    completes = words[7] != 0
    if kind == KERNEL_DISPATCH:
        return (*words[:4], kernels[words[4]], arguments[words[5]], words[6]), completes
    if kind in (BARRIER_AND, BARRIER_OR):
        return (words[0], *(word != 0 for word in words[1:6]), words[6]), completes
    return tuple(words[:7]), completes


def compare(bare, traced):
    if len(bare) != len(traced):
        return f"{len(bare)} and {len(traced)} queues had packets"
    names = [Names() for _ in range(4)]
    for queue, (before, after) in enumerate(zip(bare, traced)):
        if len(before) != len(after):
            return f"queue {queue}: {len(before)} and {len(after)} packets"
        for index, (left, right) in enumerate(zip(before, after)):
            left_packet, left_completes = normalise(left, *names[:2])
            right_packet, right_completes = normalise(right, *names[2:])
            may_gain = left[0] & 0xff == KERNEL_DISPATCH
            if left_packet != right_packet or left_completes > right_completes or \
                    right_completes > left_completes and not may_gain:
                return f"queue {queue}, packet {index}:\n{left}\n{right}"
    return None


def main():
    bare, traced = sys.argv[1:]
    counters = [json.load(open(path + ".report"))["counters"] for path in (bare, traced)]
    wrong = [f"{name}: {counters[0][name]}, traced {counters[1][name]}"
             for name in COUNTERS if counters[0][name] != counters[1][name]]
    difference = compare(read_queues(bare + ".packets"), read_queues(traced + ".packets"))
    if difference:
        wrong.append(difference)
    print("\n".join(wrong) if wrong else
          f"{sum(counters[0][name] for name in COUNTERS[:6])} packets, {counters[0]['doorbells']} doorbells: the same")
    sys.exit(bool(wrong))


main()
