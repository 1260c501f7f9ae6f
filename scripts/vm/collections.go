// Collects N times, then says how often the runtime itself counts that it stopped the world.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
)

var kept [][]byte

func main() {
	rounds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	for range rounds {
		// Something to mark, and memory that is touched for the first time.
		kept = append(kept, make([]byte, 1<<20))
		runtime.GC()
	}
	samples := []metrics.Sample{
		{Name: "/sched/pauses/total/gc:seconds"},
		{Name: "/sched/pauses/total/other:seconds"},
	}
	metrics.Read(samples)
	fmt.Printf("counted %d %d\n", events(samples[0]), events(samples[1]))
}

func events(sample metrics.Sample) (sum uint64) {
	for _, count := range sample.Value.Float64Histogram().Counts {
		sum += count
	}
	return sum
}
