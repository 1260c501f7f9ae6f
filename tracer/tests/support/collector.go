// Collector is a Go program that collects garbage only when it is told to.
//
// It says "ready" when its graph is built, and answers each line on stdin: "churn" replaces a part of the graph, so
// that there is something to sweep, and is answered "churned"; "collect" collects, and is answered "collected".
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

type link struct {
	next *link
	rest [12]any
}

// Objects of several size classes, with pointers and without: each class has span sets of its own, which the runtime
// reads with the world stopped.
func (l *link) fill(round int) (bytes int) {
	for class := range l.rest {
		size := 16 << (class % 9)
		if class%3 == round%3 {
			l.rest[class] = make([]byte, size)
		} else {
			pointers := make([]*link, size/8)
			pointers[0] = l
			l.rest[class] = pointers
		}
		bytes += size
	}
	return bytes
}

func main() {
	debug.SetGCPercent(-1)
	megabytes, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	var first *link
	for bytes := 0; bytes < megabytes<<20; {
		first = &link{next: first}
		bytes += first.fill(0)
	}
	runtime.GC()
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for round := 1; lines.Scan(); {
		switch lines.Text() {
		case "churn":
			for l, n := first, 0; l != nil; l, n = l.next, n+1 {
				if n%10 == round%10 {
					l.fill(round)
				}
			}
			round++
			fmt.Println("churned")
		case "collect":
			runtime.GC()
			fmt.Println("collected")
		}
	}
	runtime.KeepAlive(first)
}
