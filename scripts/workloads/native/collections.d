/// Collections of D's garbage collector, with a thread that has to be stopped for each. Told to run, it works and says
/// what it did; the runtime counts and measures.
module collections;

import core.memory : GC;
import core.stdc.stdio : fflush, fgets, printf, puts, stdin, stdout;
import core.stdc.string : strcmp;
import core.thread : Thread;
import core.time : dur, MonoTime;

final class Node
{
    Node next;
    size_t[6] rest;
}

__gshared Node kept;

/// Nanoseconds of CLOCK_MONOTONIC, which is what MonoTime counts.
long nowNs()
{
    return MonoTime.currTime.ticks * (1_000_000_000 / MonoTime.ticksPerSecond);
}

void mutate()
{
    while (true)
        Thread.sleep(dur!"msecs"(1));
}

void run()
{
    long[2][10] intervals;
    immutable before = GC.profileStats();
    foreach (ref interval; intervals)
    {
        interval[0] = nowNs();
        GC.collect();
        interval[1] = nowNs();
    }
    immutable after = GC.profileStats();
    printf(`{"intervals":[`);
    foreach (i, interval; intervals)
        printf(`%s{"kind":"full","collections":1,"began_ns":%lld,"ended_ns":%lld}`, i > 0 ? ",".ptr : "".ptr,
            interval[0], interval[1]);
    printf(`],"collections":%lld,"paused_ns":%lld,"longest_ns":%lld}`,
        cast(long)(after.numCollections - before.numCollections),
        (after.totalPauseTime - before.totalPauseTime).total!"nsecs", after.maxPauseTime.total!"nsecs");
    printf("\n");
    fflush(stdout);
}

void main()
{
    foreach (i; 0 .. 300_000)
    {
        auto node = new Node;
        node.next = kept;
        kept = node;
    }
    GC.disable();
    auto thread = new Thread(&mutate);
    thread.isDaemon = true;
    thread.start();
    puts("{}");
    fflush(stdout);
    char[100] line;
    while (fgets(line.ptr, line.length, stdin) !is null)
    {
        if (strcmp(line.ptr, "run\n") == 0)
            run();
        else
        {
            puts("{}");
            fflush(stdout);
        }
    }
}
