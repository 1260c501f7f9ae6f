// A program whose calls are known, told what to do line by line; each command is answered by a line. Calls of
// main.touched touch ten fresh pages each and wait in between, 1,000 of them in 64 goroutines.
package main

import (
	"bufio"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"runtime"
)

const page = 4096

//go:noinline
func touched(pages int, sleep time.Duration) int {
	memory, err := syscall.Mmap(-1, 0, pages*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	for i := 0; i < pages/2; i++ {
		memory[i*page] = 1
	}
	if sleep > 0 {
		time.Sleep(sleep)
		runtime.Gosched()
	}
	for i := pages / 2; i < pages; i++ {
		memory[i*page] = 1
	}
	syscall.Munmap(memory)
	return pages
}

//go:noinline
func recursive(n int) int {
	if n == 0 {
		return touched(2, 0)
	}
	return recursive(n-1) + 1
}

// needsRoom takes some 4 MiB of stack, which a new goroutine has not.
//
//go:noinline
func needsRoom() byte {
	return deep(4096)
}

//go:noinline
func deep(n int) byte {
	var room [1024]byte
	room[n%1024] = byte(n)
	if n > 0 {
		room[0] = deep(n - 1)
	}
	return room[0] + room[n%1024]
}

//go:noinline
func panics(n int) int {
	if n%2 == 0 {
		panic("left")
	}
	return n
}

func guarded(n int) {
	defer func() { recover() }()
	panics(n)
}

func main() {
	commands := bufio.NewScanner(os.Stdin)
	fmt.Println("ready")
	for commands.Scan() {
		switch commands.Text() {
		case "touch":
			var all sync.WaitGroup
			for g := 0; g < 64; g++ {
				all.Add(1)
				go func(g int) {
					defer all.Done()
					for i := g; i < 1000; i += 64 {
						touched(10, 200*time.Microsecond)
					}
				}(g)
			}
			all.Wait()
		case "recurse":
			for i := 0; i < 10; i++ {
				recursive(5)
			}
		case "grow":
			var all sync.WaitGroup
			all.Add(1)
			go func() {
				defer all.Done()
				needsRoom()
			}()
			all.Wait()
		case "panic":
			for i := 0; i < 10; i++ {
				guarded(i)
			}
		case "lengths":
			for i := 0; i < 60; i++ {
				if i%6 == 5 {
					touched(4, 30*time.Millisecond)
				} else {
					touched(4, 0)
				}
			}
		}
		fmt.Println(commands.Text())
	}
}
