package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

// Types of DNS records.
const (
	dnsA    = 1
	dnsPTR  = 12
	dnsMX   = 15
	dnsTXT  = 16
	dnsAAAA = 28
	dnsOPT  = 41
)

// question is a name and the type of the record that is asked for.
type question struct {
	name string
	kind uint16
}

// dnsQuestions are asked in turn. %d is a number, so that some answers are not in the cache.
var dnsQuestions = []question{
	{"www.lab.test.", dnsA}, {"www.lab.test.", dnsAAAA}, {"mail.lab.test.", dnsA}, {"lab.test.", dnsMX},
	{"lab.test.", dnsTXT}, {"host%d.lab.test.", dnsA}, {"missing%d.lab.test.", dnsA}, {"a%d.wild.lab.test.", dnsA},
	{"alias.lab.test.", dnsA}, {"cached%d.far.test.", dnsA}, {"fresh%d.far.test.", dnsA}, {"gateway.hosts.test.", dnsA},
	{"www.old.test.", dnsA}, {"1.0.0.10.in-addr.arpa.", dnsPTR},
}

// driveDNS asks over UDP from eight sockets, and over TCP from one connection.
func driveDNS(ctx context.Context, address string, t *tally) error {
	var workers []worker
	for id := range 8 {
		c, err := dial(ctx, "udp", address)
		if err != nil {
			return err
		}
		buf := make([]byte, 4096)
		workers = append(workers, worker{"queries by UDP", func(_ context.Context, turn int) (int, error) {
			return 1, askUDP(c, dnsQuery(turn, id), buf)
		}})
	}
	c, err := dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	buf := make([]byte, 4096)
	workers = append(workers, worker{"queries by TCP", func(_ context.Context, turn int) (int, error) {
		return 1, askTCP(c, dnsQuery(turn, 9), buf)
	}})
	t.run(ctx, workers)
	return nil
}

// dnsQuery is the message for a turn, with EDNS in every second one.
func dnsQuery(turn, id int) []byte {
	q := dnsQuestions[turn%len(dnsQuestions)]
	name := q.name
	if strings.Contains(name, "%d") {
		number := turn % 50
		if strings.HasPrefix(name, "fresh") {
			number = turn*10 + id
		}
		name = fmt.Sprintf(name, number)
	}
	extra := turn & 1
	b := binary.BigEndian.AppendUint16(nil, uint16(turn))
	b = append(b, 1, 0, 0, 1, 0, 0, 0, 0, 0, byte(extra)) // recursion desired; one question
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		b = append(append(b, byte(len(label))), label...)
	}
	b = append(b, 0)
	b = binary.BigEndian.AppendUint16(b, q.kind)
	b = append(b, 0, 1) // class IN
	if extra == 1 {
		b = append(b, 0, 0, dnsOPT, 4, 208, 0, 0, 0, 0, 0, 0) // 1232 bytes
	}
	return b
}

// askUDP sends a question again when its answer does not come, up to three times.
func askUDP(c net.Conn, query, buf []byte) error {
	for range 3 {
		if _, err := c.Write(query); err != nil {
			return err
		}
		err := readUDP(c, query, buf)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
	return fmt.Errorf("no answer")
}

func readUDP(c net.Conn, query, buf []byte) error {
	c.SetReadDeadline(time.Now().Add(time.Second))
	for {
		n, err := c.Read(buf)
		if err != nil {
			return err
		}
		if n >= 12 && buf[0] == query[0] && buf[1] == query[1] {
			return dnsCode(buf[:n])
		}
	}
}

func askTCP(c net.Conn, query, buf []byte) error {
	if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(query))), query...)); err != nil {
		return err
	}
	if _, err := io.ReadFull(c, buf[:2]); err != nil {
		return err
	}
	n := min(int(binary.BigEndian.Uint16(buf)), len(buf))
	if _, err := io.ReadFull(c, buf[:n]); err != nil {
		return err
	}
	if n < 12 {
		return fmt.Errorf("answer of %d bytes", n)
	}
	return dnsCode(buf[:n])
}

// dnsCode is an error unless the answer is a record or says that there is none.
func dnsCode(answer []byte) error {
	if code := answer[3] & 15; code != 0 && code != 3 {
		return fmt.Errorf("answer with code %d", code)
	}
	return nil
}
