package reusebuffer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"time"
)

func encode(list []int, send func(string)) {
	for _, n := range list {
		var buf bytes.Buffer // want `buf is made and grown in each iteration: make it before the loop and Reset it here`
		fmt.Fprintf(&buf, "%08d", n)
		send(buf.String())
	}
}

func encodePointer(list []int, w io.Writer) {
	for _, n := range list {
		buf := new(bytes.Buffer) // want `buf is made and grown in each iteration`
		fmt.Fprintf(buf, "%08d", n)
		buf.WriteTo(w)
	}
}

func lines(readers []io.Reader) (n int) {
	for _, r := range readers {
		br := bufio.NewReader(r) // want `a buffer of 4 KiB or more is made in each iteration`
		line, _ := br.ReadString('\n')
		n += len(line)
	}
	return n
}

func blocks(r io.Reader) (n int) {
	for {
		buf := make([]byte, 4096) // want `buf is made in each iteration to be read into: make it before the loop`
		got, err := r.Read(buf)
		if err != nil {
			return n
		}
		n += int(buf[got-1])
	}
}

func wait(events chan int, idle func()) {
	for {
		select {
		case <-events:
		case <-time.After(time.Minute): // want `a timer and its channel are made in each iteration`
			idle()
		}
	}
}

func decode(r io.Reader, v any) error {
	data, err := io.ReadAll(r) // want `ReadAll grows a new slice only for it to be decoded`
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// Silent from here on.

func keepsBytes(list []int) (out [][]byte) {
	for _, n := range list {
		var buf bytes.Buffer
		fmt.Fprintf(&buf, "%08d", n)
		out = append(out, buf.Bytes())
	}
	return out
}

func handsOn(list []int, send func(*bytes.Buffer)) {
	for range list {
		var buf bytes.Buffer
		send(&buf)
		_ = buf.String()
	}
}

func serve(l net.Listener, handle func(*bufio.Reader)) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		br := bufio.NewReader(conn)
		go handle(br)
	}
}

func keepsBlocks(r io.Reader) (out [][]byte) {
	for {
		buf := make([]byte, 4096)
		n, err := r.Read(buf)
		if err != nil {
			return out
		}
		out = append(out, buf[:n])
	}
}

func poll(stop chan bool, work func()) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Minute):
			work()
		}
	}
}

func returnsToo(r io.Reader, v any) ([]byte, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return data, json.Unmarshal(data, v)
}

type clock struct{}

func (clock) After(int) chan int { return nil }

func shadowed(events chan int) {
	var time clock
	for {
		select {
		case <-events:
		case <-time.After(1):
		}
	}
}
