// Collections of known generations, on demand.
//
// Each line on standard input is a generation and a number; that many collections are made, and the answer, a line of JSON,
// has what the runtime counted for each generation. A collection of an older one counts for the younger ones too.
// `churn 3` makes garbage until three collections of generation 0 have come by themselves.
// `background 3` lets the concurrent collector make three.
// `events` tells what the runtime's own events have said since the last time: [reason, nanoseconds] of each suspension, from
// GCSuspendEEBegin to GCRestartEEEnd.

using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Threading;

/// The runtime's own record of suspensions. Listening costs suspensions of its own, so it begins before all else.
sealed class Suspensions : EventListener
{
    const int Collections = 1;
    readonly List<string> seen = new List<string>();
    readonly System.Reflection.PropertyInfo time = typeof(EventWrittenEventArgs).GetProperty("TimeStamp");
    DateTime began;
    string reason = "null";

    protected override void OnEventSourceCreated(EventSource source)
    {
        if (source.Name == "Microsoft-Windows-DotNETRuntime")
            EnableEvents(source, EventLevel.Informational, (EventKeywords)Collections);
    }

    protected override void OnEventWritten(EventWrittenEventArgs written)
    {
        lock (this)
        {
            if (written.EventName == "GCSuspendEEBegin_V1")
            {
                began = (DateTime)time.GetValue(written);
                reason = written.Payload[0].ToString();
            }
            else if (written.EventName == "GCRestartEEEnd_V1")
            {
                var ticks = ((DateTime)time.GetValue(written) - began).Ticks;
                seen.Add(string.Format("[{0},{1}]", reason, ticks * 100));
            }
        }
    }

    public string Take()
    {
        lock (this)
        {
            var all = string.Join(",", seen);
            seen.Clear();
            return all;
        }
    }
}

static class Workload
{
    static object[] kept = new object[200000];

    static void Main()
    {
        var suspensions = new Suspensions();
        for (int i = 0; i < kept.Length; i++) kept[i] = new object[2];
        // Threads that run managed code: each has to be stopped.
        for (int i = 0; i < 2; i++)
        {
            var thread = new Thread(Spin) { IsBackground = true };
            thread.Start();
        }
        GC.Collect();
        Console.WriteLine("ready");
        string line;
        while ((line = Console.ReadLine()) != null)
        {
            if (line == "events")
            {
                Console.WriteLine("{{\"suspensions\":[{0}]}}", suspensions.Take());
                continue;
            }
            var words = line.Split(' ');
            var number = int.Parse(words[1]);
            var before = new[] { GC.CollectionCount(0), GC.CollectionCount(1), GC.CollectionCount(2) };
            if (words[0] == "churn")
            {
                while (GC.CollectionCount(0) < before[0] + number) kept[number] = new byte[1000];
            }
            else if (words[0] == "background")
            {
                // With the concurrent collector: most of it while the program runs, with short suspensions.
                for (int i = 0; i < number; i++)
                {
                    var then = GC.CollectionCount(2);
                    // While one is going on no other is begun.
                    while (GC.CollectionCount(2) == then)
                    {
                        GC.Collect(2, GCCollectionMode.Forced, false);
                        Thread.Sleep(1);
                    }
                }
            }
            else
            {
                for (int i = 0; i < number; i++) GC.Collect(int.Parse(words[0]), GCCollectionMode.Forced, true);
            }
            Console.WriteLine("{{\"counted\":[{0},{1},{2}]}}", GC.CollectionCount(0) - before[0],
                GC.CollectionCount(1) - before[1], GC.CollectionCount(2) - before[2]);
        }
    }

    static void Spin()
    {
        long turns = 0;
        for (;;)
        {
            turns++;
            if (turns % 10000000 == 0) Thread.Sleep(1);
        }
    }
}
