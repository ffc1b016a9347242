"""Simulates the schedule of a run with other numbers of workers, from a trace of its tasks.

A trace (`uniqurl dedup --trace FILE`) holds the CPU time of each task. The schedule is that of
crates/engine/src/pipeline.rs: in a round, workers read new chunks, insert the batches of the round before,
format those before them, and one worker writes those before them. A round ends with its last task, and
between rounds one thread chooses chunks and counts. Inputs that cannot be cut are decoded by threads
beside the workers.

The model has as many cores as workers. It knows nothing of caches that grow with cores, memory bandwidth,
the time a thread takes to wake up, and the disk.
"""

import heapq
import json
from collections import defaultdict

CHUNKS = 5  # for each worker in a round: crates/engine/src/reader/mod.rs
READ_LAST = CHUNKS + 1  # chunks that the spawning thread begins with: crates/engine/src/pipeline.rs
GROUPS = 32  # of shards: crates/engine/src/stages/insert.rs
TASKS = ("read", "insert", "format", "write", "spill")
BEFORE = ("next", "adapt")
AFTER = ("count", "collect")


def shards_for(workers):
    """As src/set/mod.rs."""
    return min(max(1 << (workers * 4 - 1).bit_length(), 32), 1024)


class Trace:
    """The tasks of a run by round and stage, their CPU time in seconds."""

    def __init__(self, path):
        with open(path, encoding="ascii") as lines:
            tasks = [json.loads(line) for line in lines]
        self.process = max((task.get("process", 0) for task in tasks), default=0) / 1e9
        for task in tasks:
            task["cpu"] /= 1e9
        subtract_nested(tasks)
        self.rounds = defaultdict(lambda: defaultdict(list))
        self.serial = defaultdict(float)
        # Steps before a round have the number of the round before it.
        for task in tasks:
            stage = task["stage"]
            if stage in ("seen", "settle", "sync"):
                self.serial[stage] += task["cpu"]
            elif stage != "round":
                number = task["round"] + (stage in BEFORE)
                self.rounds[number][stage].append(task)
        for stages in self.rounds.values():
            stages["read"].sort(key=lambda task: (task["number"], task["start"]))
            for stage in ("insert", "format"):
                stages[stage].sort(key=lambda task: task["number"])
        # The CPU time of a round is that of its tasks on one thread once more.
        self.own = sum(task["cpu"] for task in tasks if task["stage"] != "round")
        # Decoding, and threads such as the one that syncs.
        self.beside = max(self.process - self.own, 0.0)

    @staticmethod
    def least(traces):
        """The first of several traces of one run, each task with the least CPU time that it had in any of them.

        What a host takes from a virtual CPU counts as CPU time of the task that waits for it.
        """
        least = traces[0]
        for trace in traces[1:]:
            least.beside = min(least.beside, trace.beside)
            for stage in least.serial:
                least.serial[stage] = min(least.serial[stage], trace.serial[stage])
            for number, stages in least.rounds.items():
                for stage, tasks in stages.items():
                    others = trace.rounds[number][stage] if number in trace.rounds else []
                    for task, other in zip(tasks, others):
                        task["cpu"] = min(task["cpu"], other["cpu"])
        return least

    def costs(self, stage):
        """CPU times of a stage in the order of the rounds."""
        return [task["cpu"] for number in sorted(self.rounds) for task in self.rounds[number][stage]]

    def total(self, stage):
        return self.serial[stage] if stage in self.serial else sum(self.costs(stage))


def subtract_nested(tasks):
    """A task that waits for others may run some of them meanwhile, on the same thread."""
    threads = defaultdict(list)
    for task in tasks:
        if task["stage"] != "round" and "thread" in task:
            threads[task["thread"]].append(task)
    for of_thread in threads.values():
        of_thread.sort(key=lambda task: (task["start"], -task["wall"]))
        outer = []
        for task in of_thread:
            while outer and outer[-1]["start"] + outer[-1]["wall"] <= task["start"]:
                outer.pop()
            if outer:
                outer[-1]["cpu"] = max(outer[-1]["cpu"] - task["cpu"], 0.0)
            outer.append(task)


class Round:
    """Tasks of a round in the order in which they are spawned, and the work of one thread around it."""

    def __init__(self, before, spawn, tasks, after):
        self.before, self.spawn, self.tasks, self.after = before, spawn, tasks, after


def recorded(trace):
    """The rounds as they were recorded."""
    for number in sorted(trace.rounds):
        stages = trace.rounds[number]
        cpu = {stage: [task["cpu"] for task in tasks] for stage, tasks in stages.items()}
        reads = cpu.get("read", [])
        cut = max(len(reads) - READ_LAST, 0)
        tasks = (cpu.get("spill", []) + cpu.get("write", []) + reads[:cut] + cpu.get("insert", [])
                 + cpu.get("format", []) + reads[cut:])
        sums = {stage: sum(cpu.get(stage, [])) for stage in BEFORE + AFTER + ("spawn",)}
        yield Round(sum(sums[stage] for stage in BEFORE), sums["spawn"], tasks,
                    sum(sums[stage] for stage in AFTER))


class Costs:
    """What each chunk of a run costs, from which rounds of any size are made."""

    def __init__(self, trace, threads):
        self.read, self.format = trace.costs("read"), trace.costs("format")
        self.inputs = [task["number"] for number in sorted(trace.rounds)
                       for task in trace.rounds[number]["read"]]
        self.chunks = max(len(self.read), 1)
        self.rounds = max(len(trace.rounds), 1)
        self.shards = shards_for(threads)
        each = {stage: trace.total(stage) / self.chunks
                for stage in ("insert", "write", "next", "count", "collect")}
        self.insert, self.write = each["insert"], each["write"]
        self.step = each["next"] + each["count"] + each["collect"]
        # Both go through each batch, one for each shard and the other for each group of shards.
        self.adapt = trace.total("adapt") / self.chunks / self.shards
        self.spawn = trace.total("spawn") / self.chunks / min(self.shards, GROUPS)
        # How much longer than the mean of its round the insertion into a shard takes.
        self.uneven, self.inserted = [], 0
        for stages in trace.rounds.values():
            inserts = [task["cpu"] for task in stages["insert"]]
            if sum(inserts) > 0:
                self.uneven += [cpu * len(inserts) / sum(inserts) for cpu in inserts]
        # Decoding a chunk, if the inputs are streams.
        self.decode = trace.beside / self.chunks

    def round(self, read, insert, form, write, shards):
        """A round with these ranges of chunks, by the stage that they are in."""
        reads = [self.read[i] for i in read]
        cut = max(len(reads) - READ_LAST, 0)
        tasks = [len(write) * self.write] if write else []
        tasks += reads[:cut]
        if insert:
            mean = len(insert) * self.insert / shards
            # Each round goes on in the list, since rounds differ: shards grow in some of them.
            tasks += [mean * self.uneven[(self.inserted + i) % len(self.uneven)] for i in range(shards)]
            self.inserted += shards
        tasks += [self.format[i % len(self.format)] for i in form] + reads[cut:]
        # Half of the steps come before the round, and half after it.
        step = len(read) * self.step / 2
        adapt = len(insert) * shards * self.adapt
        return Round(step + adapt, len(insert) * min(shards, GROUPS) * self.spawn, tasks, step)


class Machine:
    """Threads that share cores. All that run advance at the same rate, so one heap of their work is enough."""

    def __init__(self, cores):
        self.cores, self.time, self.work, self.heap, self.number = cores, 0.0, 0.0, [], 0

    def start(self, work, then):
        self.number += 1
        heapq.heappush(self.heap, (self.work + work, self.number, then))

    def step(self):
        """Goes on to the next end of a task."""
        running = len(self.heap)
        work, _, then = heapq.heappop(self.heap)
        rate = min(1.0, self.cores / running)
        self.time += (work - self.work) / rate
        self.work = work
        then()


def run_round(machine, workers, of_round, is_done):
    """Runs a round: the spawning worker takes tasks from the end, the others from the front."""
    tasks, left = of_round.tasks, {"first": 0, "last": len(of_round.tasks), "running": 0, "done": False}

    def take(from_end):
        if left["first"] < left["last"]:
            if from_end:
                left["last"] -= 1
                cost = tasks[left["last"]]
            else:
                cost = tasks[left["first"]]
                left["first"] += 1
            left["running"] += 1
            machine.start(cost, lambda: ended(from_end))
        elif left["running"] == 0 and not left["done"]:
            left["done"] = True
            machine.start(of_round.after, is_done)

    def ended(from_end):
        left["running"] -= 1
        take(from_end)

    def begin():
        # The others begin with the first task while the rest is made.
        left["running"] += 1
        machine.start(of_round.spawn, lambda: ended(True))
        for _ in range(workers - 1):
            if left["first"] < left["last"]:
                take(False)

    machine.start(of_round.before, begin)


def replay(trace, workers):
    """Seconds of the recorded rounds with so many workers."""
    machine = Machine(workers)
    for of_round in recorded(trace):
        done = []
        run_round(machine, workers, of_round, lambda done=done: done.append(True))
        while not done:
            machine.step()
    return machine.time + ends(trace, workers)


def ends(trace, workers):
    """The steps at both ends of a run. All threads sort and merge, as far as a trace shows that."""
    return trace.serial["seen"] + trace.serial["sync"] + trace.serial["settle"] / max(workers, 1)


def rebuild(trace, threads, workers, streams=0, cores=None):
    """Seconds with rounds for so many workers, made of the chunks of a trace of so many threads.

    With `streams`, so many inputs are decoded at once, each up to a round ahead. They share the cores, as many
    as workers without another number, with the workers.
    """
    costs, shards = Costs(trace, threads), shards_for(workers)
    machine, most = Machine(cores or workers), workers * CHUNKS
    decoded = decode(machine, costs, streams, most) if streams else None
    place = {"next": 0}
    read, insert, form, write = [], [], [], []
    while True:
        available = decoded(place["next"]) if decoded else costs.chunks - place["next"]
        insert, form, write = read, insert, form
        read = range(place["next"], place["next"] + min(available, most))
        place["next"] = read.stop
        if not (read or insert or form or write):
            if place["next"] == costs.chunks:
                return machine.time + ends(trace, workers)
            # Nothing to do but to wait for a decoder.
            machine.step()
            continue
        done = []
        run_round(machine, workers, costs.round(read, insert, form, write, shards),
                  lambda done=done: done.append(True))
        while not done:
            machine.step()


def decode(machine, costs, streams, ahead):
    """Starts the decoders. Returns a function that says how many chunks from one on are decoded in a row."""
    inputs = defaultdict(list)
    for chunk, number in enumerate(costs.inputs):
        inputs[number].append(chunk)
    waiting = list(inputs.values())
    is_decoded, taken = [False] * costs.chunks, {"upto": 0}
    blocked = []

    def begin():
        if waiting:
            advance(waiting.pop(0), 0)

    def advance(chunks, at):
        if at == len(chunks):
            begin()
        elif at - sum(1 for chunk in chunks[:at] if chunk < taken["upto"]) >= ahead:
            blocked.append((chunks, at))
        else:
            def done():
                is_decoded[chunks[at]] = True
                advance(chunks, at + 1)
            machine.start(costs.decode, done)

    for _ in range(streams):
        begin()

    def available(chunk):
        taken["upto"] = chunk
        held, blocked[:] = list(blocked), []
        for chunks, at in held:
            advance(chunks, at)
        last = chunk
        while last < costs.chunks and is_decoded[last]:
            last += 1
        return last - chunk

    return available
