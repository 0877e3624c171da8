// A server that knows what its answers cost, as spins.c describes it; one goroutine for each connection.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const rounds = 60000

// CLOCK_THREAD_CPUTIME_ID of Linux.
const threadClock = 3

var (
	sink    uint64 = 1
	answers uint64
	calls   [2]uint64
	ns      [2]uint64
)

func busy_work(x uint64) {
	for i := 0; i < rounds; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	atomic.StoreUint64(&sink, x)
}

//go:noinline
func caller_a() {
	busy_work(atomic.LoadUint64(&sink) | 1)
}

//go:noinline
func caller_b() {
	busy_work(atomic.LoadUint64(&sink) | 2)
}

func clockNs() uint64 {
	var time syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&time)), 0)
	return uint64(time.Nano())
}

func work() {
	which := 0
	if (atomic.AddUint64(&answers, 1)-1)%3 == 2 {
		which = 1
	}
	// The clock is a thread's, so the goroutine must not move to another one.
	runtime.LockOSThread()
	begun := clockNs()
	if which == 1 {
		caller_b()
	} else {
		caller_a()
	}
	took := clockNs() - begun
	runtime.UnlockOSThread()
	atomic.AddUint64(&ns[which], took)
	atomic.AddUint64(&calls[which], 1)
}

func serve(connection net.Conn) {
	defer connection.Close()
	reader := bufio.NewReader(connection)
	for {
		request, err := reader.ReadString('\n')
		if err != nil {
			return
		}
		for line := request; line != "\r\n"; {
			if line, err = reader.ReadString('\n'); err != nil {
				return
			}
		}
		body := "Hello\n"
		if strings.HasPrefix(request, "GET /truth ") {
			n := func(number *uint64) uint64 { return atomic.LoadUint64(number) }
			body = fmt.Sprintf("%d %d %d %d\n", n(&calls[0]), n(&ns[0]), n(&calls[1]), n(&ns[1]))
		} else {
			work()
		}
		head := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s"
		if _, err := fmt.Fprintf(connection, head, len(body), body); err != nil {
			return
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			os.Exit(1)
		}
		go serve(connection)
	}
}
