// Collects as often as it is told to, then prints how many stops of the world the runtime itself has counted: those of
// collections, and others.
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
		fmt.Fprintln(os.Stderr, "usage: collections ROUNDS:", err)
		os.Exit(2)
	}
	for range rounds {
		// Something new to mark each time.
		kept = append(kept, make([]byte, 1<<20))
		runtime.GC()
	}
	fmt.Println("counted",
		events("/sched/pauses/total/gc:seconds"), events("/sched/pauses/total/other:seconds"))
}

func events(histogram string) (sum uint64) {
	sample := []metrics.Sample{{Name: histogram}}
	metrics.Read(sample)
	for _, count := range sample[0].Value.Float64Histogram().Counts {
		sum += count
	}
	return sum
}
