package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// natsConn is a connection that speaks the text protocol of NATS.
type natsConn struct {
	r     *bufio.Reader
	w     *bufio.Writer
	asked int // inboxes of ask so far
}

// natsMessage is a message that the server delivers.
type natsMessage struct {
	subject, reply string
	payload        []byte // with its headers in front, if there are any
}

func dialNATS(ctx context.Context, address string) (*natsConn, error) {
	c, err := dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	n := &natsConn{r: bufio.NewReaderSize(c, 64<<10), w: bufio.NewWriterSize(c, 64<<10)}
	if line, err := n.r.ReadString('\n'); err != nil || !strings.HasPrefix(line, "INFO ") {
		return nil, fmt.Errorf("no INFO but %q: %v", line, err)
	}
	n.send(`CONNECT {"verbose":false,"pedantic":false,"lang":"go","version":"1","headers":true,"no_responders":true}`)
	return n, n.sync()
}

// send queues a line.
func (n *natsConn) send(format string, args ...any) {
	fmt.Fprintf(n.w, format, args...)
	n.w.WriteString("\r\n")
}

// publish queues a message; reply may be empty.
func (n *natsConn) publish(subject, reply string, payload []byte) {
	n.send("PUB %s %s %d", subject, reply, len(payload))
	n.w.Write(payload)
	n.w.WriteString("\r\n")
}

// publishHeader queues a message with a header.
func (n *natsConn) publishHeader(subject, header string, payload []byte) {
	header = "NATS/1.0\r\n" + header + "\r\n\r\n"
	n.send("HPUB %s %d %d", subject, len(header), len(header)+len(payload))
	n.w.WriteString(header)
	n.w.Write(payload)
	n.w.WriteString("\r\n")
}

// sync sends what is queued and waits until the server has seen it. Messages that arrive
// meanwhile are dropped.
func (n *natsConn) sync() error {
	n.send("PING")
	if err := n.w.Flush(); err != nil {
		return err
	}
	for {
		_, pong, err := n.read()
		if err != nil || pong {
			return err
		}
	}
}

// next returns the next message.
func (n *natsConn) next() (natsMessage, error) {
	for {
		m, pong, err := n.read()
		if err != nil || !pong && m.subject != "" {
			return m, err
		}
	}
}

// read reads one item: a message, a PONG, or something else, for which the subject is empty.
func (n *natsConn) read() (m natsMessage, pong bool, err error) {
	line, err := n.r.ReadString('\n')
	if err != nil {
		return m, false, err
	}
	f := strings.Fields(line)
	if len(f) == 0 {
		return m, false, nil
	}
	switch f[0] {
	case "PONG":
		return m, true, nil
	case "PING":
		n.send("PONG")
		return m, false, n.w.Flush()
	case "-ERR":
		return m, false, fmt.Errorf("server: %s", strings.TrimSpace(line))
	case "MSG", "HMSG":
	default:
		return m, false, nil
	}
	sizes := 1 // at the end of the line
	if f[0] == "HMSG" {
		sizes = 2
	}
	if len(f) < 3+sizes {
		return m, false, fmt.Errorf("short line %q", line)
	}
	m.subject = f[1]
	if len(f) > 3+sizes {
		m.reply = f[3]
	}
	size, err := strconv.Atoi(f[len(f)-1])
	if err != nil {
		return m, false, err
	}
	m.payload = make([]byte, size+2)
	if _, err := io.ReadFull(n.r, m.payload); err != nil {
		return m, false, err
	}
	m.payload = m.payload[:size]
	return m, false, nil
}

// ask sends a request to the server's own interface and returns the answer.
func (n *natsConn) ask(subject string, request any) (string, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	n.asked++
	inbox := "_INBOX.ask." + strconv.Itoa(n.asked)
	n.send("SUB %s 99", inbox)
	n.send("UNSUB 99 1")
	n.publish(subject, inbox, body)
	if err := n.w.Flush(); err != nil {
		return "", err
	}
	m, err := n.next()
	return string(m.payload), err
}
