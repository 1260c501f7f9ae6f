// Regions is a Go program whose memory is known in numbers: it prints the runtime's own accounts of it, one JSON object
// for each line on stdin, and ends when stdin is closed. "grow" lets it allocate before it answers.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"runtime"
	"runtime/debug"
	"unsafe"
)

type node struct {
	next, peer *node
	payload    [6]uint64
}

var chains []*node

func grow(megabytes int) {
	var head *node
	for bytes := 0; bytes < megabytes<<20; bytes += int(unsafe.Sizeof(node{})) {
		head = &node{next: head, peer: head}
		if bytes%(1<<20) == 0 {
			chains = append(chains, head)
			head = nil
		}
	}
	chains = append(chains, head)
	runtime.GC()
}

// Keeps a stack of about this many bytes in use, touched to its depth.
func deep(bytes int, where chan<- uintptr, wait <-chan struct{}) {
	var frame [512]byte
	frame[bytes%len(frame)] = 1
	if bytes > len(frame) {
		deep(bytes-len(frame), where, wait)
	} else {
		where <- uintptr(unsafe.Pointer(&frame))
		<-wait
	}
	runtime.KeepAlive(&frame)
}

type answer struct {
	Version string
	// In bytes, as runtime.MemStats has them.
	HeapSys, StackSys, MSpanSys, MCacheSys, BuckHashSys, GCSys, OtherSys uint64
	// Addresses of known sorts.
	Stack, Object uintptr
}

func main() {
	debug.SetGCPercent(-1)
	grow(40)
	wait := make(chan struct{})
	where := make(chan uintptr)
	for i := 0; i < 20; i++ {
		go deep(20_000, where, wait)
	}
	var a answer
	for i := 0; i < 20; i++ {
		a.Stack = <-where
	}
	a.Version = runtime.Version()
	lines := bufio.NewScanner(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		if lines.Text() == "grow" {
			grow(100)
		}
		a.Object = uintptr(unsafe.Pointer(chains[len(chains)/2]))
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		a.HeapSys, a.StackSys, a.MSpanSys, a.MCacheSys = m.HeapSys, m.StackSys, m.MSpanSys, m.MCacheSys
		a.BuckHashSys, a.GCSys, a.OtherSys = m.BuckHashSys, m.GCSys, m.OtherSys
		out.Encode(a)
	}
	close(wait)
}
