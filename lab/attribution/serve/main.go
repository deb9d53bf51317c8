// Command serve puts the operations of a ground-truth program behind HTTP, so that it can
// be measured and recorded as a service: each request does some of them.
//
//	serve -addr 127.0.0.1:8091 -ops 50 feed
package main

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/progs/feed"
	"github.com/heaptrim/heaptrim/lab/attribution/progs/joins"
	"github.com/heaptrim/heaptrim/lab/attribution/progs/wire"
)

// workers make the operations of a program for the n-th goroutine.
var workers = map[string]func() func(n int) drive.Op{
	"feed":  func() func(int) drive.Op { return feed.New().Worker },
	"joins": func() func(int) drive.Op { return joins.New().Worker },
	"wire":  func() func(int) drive.Op { return wire.New().Worker },
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8091", "`address` to listen on")
	ops := flag.Int("ops", 50, "operations for each request")
	flag.Parse()
	if err := serve(*addr, *ops, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func serve(addr string, ops int, name string) error {
	program, ok := workers[name]
	if !ok {
		return errors.New("no program " + name)
	}
	newOp := program()
	free := make(chan drive.Op, runtime.GOMAXPROCS(0))
	for n := range cap(free) {
		free <- newOp(n)
	}
	var next atomic.Int64
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		op := <-free
		var sum uint64
		for range ops {
			sum = drive.Mix(sum, op(int(next.Add(1))))
		}
		free <- op
		fmt.Fprintf(w, "%016x\n", sum)
	})
	http.HandleFunc("/totals", func(w http.ResponseWriter, _ *http.Request) { drive.Totals(w) })
	return http.ListenAndServe(addr, nil)
}
