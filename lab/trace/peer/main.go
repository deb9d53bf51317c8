// Command peer reads every event of a trace by golang.org/x/exp/trace, as
// programs do that look at traces, and does nothing with them.
//
//	peer TRACE
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"golang.org/x/exp/trace"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: peer TRACE")
	}
	n, err := count(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, "events")
}

func count(name string) (int, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	if err != nil {
		return 0, err
	}
	for n := 0; ; n++ {
		if _, err := r.ReadEvent(); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}
