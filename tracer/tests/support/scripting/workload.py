"""Collections of known generations, on demand.

Each line on standard input is a generation and a number; that many collections are made, and the answer, a line of
JSON, has what the interpreter counted (gc.get_stats) and how long each took between the two calls of gc.callbacks.
`churn 0` makes garbage until the collector has come by itself as often as the number says.
"""
import gc
import sys
import time

began = 0
lengths = []
counted = 0


def on_collection(phase, info):
    """Notes the time between the collector's two calls."""
    global began, counted
    now = time.perf_counter_ns()
    if phase == "start":
        began = now
    else:
        lengths.append((info["generation"], now - began))
        counted += 1


def cycles(number):
    """Makes objects that refer to themselves, so that only the collector frees them."""
    for _ in range(number):
        cell = []
        cell.append(cell)


def answer():
    """Says what has been counted since the last answer."""
    by_generation = [generation["collections"] for generation in gc.get_stats()]
    pairs = ",".join("[%d,%d]" % pair for pair in lengths)
    print('{"counted":%s,"lengths":[%s]}' % (by_generation, pairs), flush=True)
    lengths.clear()


# Something to go through, so that a collection takes time that can be compared.
kept = [[number] for number in range(100000)]
gc.collect()
gc.disable()
gc.callbacks.append(on_collection)
print("ready", flush=True)
for line in sys.stdin:
    word, number = line.split()
    if word == "churn":
        until = counted + int(number)
        gc.enable()
        while counted < until:
            cycles(100)
        gc.disable()
    else:
        for _ in range(int(number)):
            cycles(50)
            gc.collect(int(word))
    answer()
