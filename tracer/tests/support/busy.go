// Busy is a Go program that stops its world when it is told to, and counts how often it did.
//
// Commands are its arguments, then lines on its stdin; each is answered by one line of JSON with what the program has
// counted since it started:
//
//	collect N      N collections
//	stop WHAT N    N calls that stop the world: memstats, procs, stacks, profile
//	threads N      N operating system threads, which fault and end
//	touch N        N pages of new memory
//	busy           from now on, in the background: collections in a loop, two goroutines that allocate
//	counters       nothing
//	exit STATUS    (not answered)
//
// The garbage collector runs only when told. It ends with its stdin. Reading what it counts stops no world.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	debug.SetGCPercent(-1)
	answer()
	for _, command := range os.Args[1:] {
		obey(command)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		obey(lines.Text())
	}
}

func obey(command string) {
	words := append(strings.Fields(command), "", "", "")
	switch words[0] {
	case "collect":
		repeat(words[1], runtime.GC)
	case "stop":
		repeat(words[2], stops[words[1]])
	case "threads":
		threads(number(words[1]))
	case "touch":
		touch(number(words[1]))
	case "busy":
		busy()
	case "counters":
	case "exit":
		os.Exit(number(words[1]))
	default:
		fmt.Fprintf(os.Stderr, "busy: %q is no command\n", command)
		os.Exit(2)
	}
	answer()
}

func number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		fmt.Fprintln(os.Stderr, "busy:", err)
		os.Exit(2)
	}
	return n
}

func repeat(times string, call func()) {
	for n := number(times); n > 0; n-- {
		call()
	}
}

// ---- what stops the world

var stacks = make([]byte, 1<<20)

// GOMAXPROCS stops the world only for another number than the one it has.
var procs = 2

var stops = map[string]func(){
	"memstats": func() { runtime.ReadMemStats(new(runtime.MemStats)) },
	"procs":    func() { procs = 3 - procs; runtime.GOMAXPROCS(procs) },
	"stacks":   func() { runtime.Stack(stacks, true) },
	"profile":  func() { pprof.Lookup("goroutine").WriteTo(new(bytes.Buffer), 0) },
}

// ---- work

var progress atomic.Int64

func busy() {
	go func() {
		for {
			runtime.GC()
			progress.Add(1)
			time.Sleep(time.Millisecond)
		}
	}()
	for n := 0; n < 2; n++ {
		go func() {
			for kept := [64][]byte{}; ; {
				n := progress.Add(1)
				kept[n%64] = make([]byte, 1<<14)
				kept[n%64][n%(1<<14)] = 1
				time.Sleep(50 * time.Microsecond)
			}
		}()
	}
}

// Several at a time: each goroutine takes a thread of its own, faults on it, and ends with the thread locked, which ends
// the thread as well.
func threads(count int) {
	const atOnce = 4
	places := make(chan bool, atOnce)
	var all sync.WaitGroup
	for ; count > 0; count-- {
		places <- true
		all.Add(1)
		go func() {
			runtime.LockOSThread()
			touch(32)
			progress.Add(1)
			<-places
			all.Done()
		}()
	}
	all.Wait()
}

// Fresh memory from the kernel, so that each page is a fault of this thread.
func touch(pages int) {
	size := pages * os.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		panic(err)
	}
	for at := 0; at < size; at += os.Getpagesize() {
		memory[at] = 1
	}
	if err := syscall.Munmap(memory); err != nil {
		panic(err)
	}
}

// ---- the answer

func answer() {
	line, err := json.Marshal(map[string]any{
		"pid":      os.Getpid(),
		"progress": progress.Load(),
		// Null: not counted by this version of Go.
		"gc_stops":    counted("/sched/pauses/total/gc:seconds"),
		"other_stops": counted("/sched/pauses/total/other:seconds"),
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

func counted(name string) *uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	sum := uint64(0)
	for _, count := range sample[0].Value.Float64Histogram().Counts {
		sum += count
	}
	return &sum
}
