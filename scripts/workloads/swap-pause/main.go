// Swap-pause is a Go program with a large pointer graph that collects garbage only when it is told to, so that a
// runner can move its memory out to swap right before each collection.
//
// What it prints on stdout, one line each:
//
//	pid N       the graph is built; N is the process id
//	ready K     collection K comes next; it waits for a line on stdin, and ends if stdin is closed
//	{...}       after the last collection: what the runtime and the kernel counted from "ready 1" until now
//
// Between "ready 1" and its end the world stops for nothing but the collections, twice for each. So none of the
// reads below may stop it, in any Go version from 1.21 to 1.27: runtime.ReadMemStats does, and is not used;
// debug.ReadGCStats copies the same ring of pauses under the heap's lock, runtime/metrics.Read adds up counters
// under a lock of its own, debug.SetGCPercent takes the heap's lock. (Pauses in the ring are per cycle: both of
// its stops added up. The histogram counts each stop.)
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

func main() {
	graphMB := flag.Int("graph-mb", 100, "size of the pointer graph, in MiB")
	rounds := flag.Int("rounds", 10, "number of collections")
	statsPath := flag.String("stats", "", "also write the JSON line to this `file`")
	flag.Parse()
	if *graphMB < 1 || *rounds < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "swap-pause: -graph-mb and -rounds must be at least 1, and nothing may follow them")
		os.Exit(2)
	}
	if err := run(*graphMB, *rounds, *statsPath); err != nil {
		fmt.Fprintln(os.Stderr, "swap-pause:", err)
		os.Exit(1)
	}
}

func run(graphMB, rounds int, statsPath string) error {
	// Only forced collections; this also switches off the one that is due every two minutes.
	debug.SetGCPercent(-1)
	g := buildGraph(graphMB << 20)
	// Whatever building left behind is collected before anyone looks.
	runtime.GC()
	fmt.Printf("pid %d\n", os.Getpid())

	answers := bufio.NewReader(os.Stdin)
	before, err := takeReading()
	if err != nil {
		return err
	}
	for round := 1; round <= rounds; round++ {
		g.churn(round)
		fmt.Printf("ready %d\n", round)
		if _, err := answers.ReadString('\n'); err != nil {
			return fmt.Errorf("no answer to \"ready %d\": %w", round, err)
		}
		runtime.GC()
	}
	after, err := takeReading()
	if err != nil {
		return err
	}

	line, err := json.Marshal(report(before, after, g))
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if statsPath != "" {
		if err := os.WriteFile(statsPath, line, 0o644); err != nil {
			return err
		}
	}
	_, err = os.Stdout.Write(line)
	runtime.KeepAlive(g)
	return err
}

// ---- the graph

// A node of some size class, with two pointers for the collector to follow. Interfaces keep the classes apart
// from the links: any node can lead to any other.
type node[Payload any] struct {
	next, peer any
	payload    Payload
}

func (n *node[Payload]) link(next, peer any) { n.next, n.peer = next, peer }

type linker interface{ link(next, peer any) }

func newNode[Payload any]() (linker, int) {
	n := new(node[Payload])
	return n, int(unsafe.Sizeof(*n))
}

// Several size classes, since the collector keeps its span sets and free lists per class: the more there are, the
// more of its own memory a collection touches.
var makers = []func() (linker, int){
	newNode[[0]uint64],  // 32 bytes
	newNode[[2]uint64],  // 48
	newNode[[4]uint64],  // 64
	newNode[[6]uint64],  // 80
	newNode[[12]uint64], // 128
	newNode[[20]uint64], // 192
	newNode[[28]uint64], // 256
	newNode[[60]uint64], // 512
}

const chainBytes = 1 << 20

// Chains of nodes, by number.
type graph struct {
	chains  map[int]linker
	objects int
	bytes   int
}

func buildGraph(size int) *graph {
	g := &graph{chains: map[int]linker{}}
	for number := 0; g.bytes < size; number++ {
		objects, bytes := g.buildChain(number)
		g.objects += objects
		g.bytes += bytes
	}
	return g
}

// Builds a chain, in place of the one that had its number, and tells its length and size.
func (g *graph) buildChain(number int) (objects, bytes int) {
	head, _ := newNode[[0]uint64]()
	g.chains[number] = head
	// Forwards, so that the collector reads memory in the order of its addresses, and the kernel's read-ahead helps:
	// it is the pauses that should be slow here, not the marking between them.
	for last := head; bytes < chainBytes; objects++ {
		next, size := makers[(objects+number)%len(makers)]()
		last.link(next, head)
		last = next
		bytes += size
	}
	return objects, bytes
}

// Replaces every tenth chain, so that each collection has something to sweep.
func (g *graph) churn(round int) {
	for number := round % 10; number < len(g.chains); number += 10 {
		g.buildChain(number)
	}
}

// ---- what was counted

// One look at every counter. Nothing in here stops the world.
type reading struct {
	gc      debug.GCStats
	pauses  histogram
	others  histogram
	process faults
	threads map[string]faults
}

type faults struct {
	Minor int64 `json:"minor"`
	Major int64 `json:"major"`
}

func takeReading() (reading, error) {
	r := reading{
		pauses: readHistogram("/sched/pauses/total/gc:seconds"),
		others: readHistogram("/sched/pauses/total/other:seconds"),
	}
	if r.pauses.name == "" {
		r.pauses = readHistogram("/gc/pauses:seconds") // its name until 1.21
	}
	debug.ReadGCStats(&r.gc)
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return r, err
	}
	r.process = faults{Minor: int64(usage.Minflt), Major: int64(usage.Majflt)}
	var err error
	r.threads, err = readThreadFaults()
	return r, err
}

// The zero value stands for a histogram that this Go version doesn't have.
type histogram struct {
	name   string
	counts []uint64
	bounds []float64
}

func readHistogram(name string) histogram {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return histogram{}
	}
	h := sample[0].Value.Float64Histogram()
	return histogram{name, h.Counts, h.Buckets}
}

// Fields 10 and 12 of /proc/self/task/TID/stat, for every thread there is.
func readThreadFaults() (map[string]faults, error) {
	paths, err := filepath.Glob("/proc/self/task/*/stat")
	if err != nil {
		return nil, err
	}
	threads := map[string]faults{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // ended meanwhile
		}
		// The second field is a name in parentheses, which may contain anything; the third follows the last of them.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) < 10 {
			return nil, fmt.Errorf("%s: %q has too few fields", path, text)
		}
		minor, errMinor := strconv.ParseInt(fields[10-3], 10, 64)
		major, errMajor := strconv.ParseInt(fields[12-3], 10, 64)
		if errMinor != nil || errMajor != nil {
			return nil, fmt.Errorf("%s: %q has no fault counters", path, text)
		}
		threads[filepath.Base(filepath.Dir(path))] = faults{minor, major}
	}
	return threads, nil
}

// ---- the JSON line

type stats struct {
	GoVersion    string `json:"go_version"`
	Pid          int    `json:"pid"`
	GOMAXPROCS   int    `json:"gomaxprocs"`
	GraphBytes   int    `json:"graph_bytes"`
	GraphObjects int    `json:"graph_objects"`
	Collections  int64  `json:"collections"`
	// Per collection, both stops added up, oldest first. The runtime keeps the last 256.
	GCPausesNs    []int64     `json:"gc_pauses_ns"`
	GCPauseEnds   []time.Time `json:"gc_pause_ends"`
	GCPauseMaxNs  int64       `json:"gc_pause_max_ns"`
	GCPauseSumNs  int64       `json:"gc_pause_sum_ns"`
	GCStops       *stops      `json:"gc_stops"`
	OtherStops    *stops      `json:"other_stops"` // null: not counted by this Go version
	ProcessFaults faults      `json:"process_faults"`
	// Threads that there were at the end; one that was born meanwhile counts from zero, one that ended is left out.
	ThreadFaults map[string]faults `json:"thread_faults"`
}

// What a histogram grew by. Each stop is counted on its own.
type stops struct {
	Metric  string   `json:"metric"`
	Count   uint64   `json:"count"`
	Buckets []bucket `json:"buckets"`
}

// Bounds are null where the bucket has none.
type bucket struct {
	FromNs *float64 `json:"from_ns"`
	ToNs   *float64 `json:"to_ns"`
	Count  uint64   `json:"count"`
}

func report(before, after reading, g *graph) stats {
	s := stats{
		GoVersion:    runtime.Version(),
		Pid:          os.Getpid(),
		GOMAXPROCS:   runtime.GOMAXPROCS(0),
		GraphBytes:   g.bytes,
		GraphObjects: g.objects,
		Collections:  after.gc.NumGC - before.gc.NumGC,
		GCStops:      grown(before.pauses, after.pauses),
		OtherStops:   grown(before.others, after.others),
		ProcessFaults: faults{
			after.process.Minor - before.process.Minor,
			after.process.Major - before.process.Major,
		},
		ThreadFaults: map[string]faults{},
		GCPausesNs:   []int64{},
		GCPauseEnds:  []time.Time{},
		GCPauseSumNs: int64(after.gc.PauseTotal - before.gc.PauseTotal),
	}
	kept := int(s.Collections)
	if kept > len(after.gc.Pause) {
		kept = len(after.gc.Pause)
	}
	for i := kept - 1; i >= 0; i-- { // the ring's newest entry comes first
		ns := after.gc.Pause[i].Nanoseconds()
		s.GCPausesNs = append(s.GCPausesNs, ns)
		s.GCPauseEnds = append(s.GCPauseEnds, after.gc.PauseEnd[i])
		if ns > s.GCPauseMaxNs {
			s.GCPauseMaxNs = ns
		}
	}
	for tid, end := range after.threads {
		begin := before.threads[tid]
		s.ThreadFaults[tid] = faults{end.Minor - begin.Minor, end.Major - begin.Major}
	}
	return s
}

func grown(before, after histogram) *stops {
	if after.name == "" {
		return nil
	}
	s := &stops{Metric: after.name, Buckets: []bucket{}}
	for i, count := range after.counts {
		if delta := count - before.counts[i]; delta > 0 {
			s.Count += delta
			s.Buckets = append(s.Buckets, bucket{boundNs(after.bounds[i]), boundNs(after.bounds[i+1]), delta})
		}
	}
	return s
}

func boundNs(seconds float64) *float64 {
	if math.IsInf(seconds, 0) {
		return nil
	}
	ns := math.Round(seconds * 1e9)
	return &ns
}
