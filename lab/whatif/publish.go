//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// publishRate is how many messages a second the NATS server gets.
const publishRate = 60_000

// publish makes a JetStream stream in memory that keeps the last 50,000
// messages, and publishes messages of 300 bytes to it at a fixed rate, in the
// text protocol of NATS.
func publish(address string, window time.Duration) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	go answer(conn)
	w := bufio.NewWriterSize(conn, 64<<10)
	stream := `{"name":"S","subjects":["s.>"],"storage":"memory","retention":"limits","discard":"old","max_msgs":50000,"num_replicas":1}`
	fmt.Fprintf(w, "CONNECT {\"verbose\":false,\"pedantic\":false}\r\nPUB $JS.API.STREAM.CREATE.S reply %d\r\n%s\r\n", len(stream), stream)
	if err := w.Flush(); err != nil {
		return err
	}
	time.Sleep(200 * time.Millisecond)
	body := strings.Repeat("m", 300)
	start, sent := time.Now(), 0
	for time.Since(start) < window {
		due := int(time.Since(start).Seconds() * publishRate)
		for ; sent < due; sent++ {
			fmt.Fprintf(w, "PUB s.%d %d\r\n%s\r\n", sent%50_000, len(body), body)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
	fmt.Printf("  %d requests in %.2fs, 0MB read\n", sent, window.Seconds())
	return nil
}

// answer keeps the connection alive.
func answer(conn net.Conn) {
	r := bufio.NewReader(conn)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		if strings.HasPrefix(line, "PING") {
			if _, err := io.WriteString(conn, "PONG\r\n"); err != nil {
				return
			}
		}
	}
}
