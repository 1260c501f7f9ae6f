// Collections of Mono's SGen, of each generation, with a thread that has to be stopped for each. Told to run, it works
// and says what it did; the runtime counts.
using System;
using System.Diagnostics;
using System.Text;
using System.Threading;

class Node
{
    public Node Next;
    public long Number;
}

static class Collections
{
    static Node kept;

    // Nanoseconds of CLOCK_MONOTONIC, which is what Mono's Stopwatch counts, in units of 100 ns.
    static long NowNs()
    {
        return Stopwatch.GetTimestamp() * (1000000000L / Stopwatch.Frequency);
    }

    static void Run()
    {
        var said = new StringBuilder("{\"intervals\":[");
        int minor = GC.CollectionCount(0), major = GC.CollectionCount(1);
        for (int i = 0; i < 10; i++)
        {
            int generation = i < 6 ? 0 : 1;
            long began = NowNs();
            GC.Collect(generation);
            // The clock's units are 100 ns, and it is cut to them: no earlier than it was.
            long ended = NowNs() + 100;
            said.AppendFormat("{0}{{\"kind\":\"{1}\",\"collections\":1,\"began_ns\":{2},\"ended_ns\":{3}}}",
                i > 0 ? "," : "", generation, began, ended);
        }
        said.AppendFormat("],\"minor\":{0},\"major\":{1}}}", GC.CollectionCount(0) - minor,
            GC.CollectionCount(1) - major);
        Console.WriteLine(said);
    }

    static void Main()
    {
        for (int i = 0; i < 200000; i++)
            kept = new Node { Next = kept, Number = i };
        var thread = new Thread(() => { for (;;) Thread.Sleep(1); });
        thread.IsBackground = true;
        thread.Start();
        Console.WriteLine("{}");
        for (string line; (line = Console.ReadLine()) != null;)
        {
            if (line == "run")
                Run();
            else
                Console.WriteLine("{}");
        }
        GC.KeepAlive(kept);
    }
}
