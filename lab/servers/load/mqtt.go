package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// Types of MQTT packets, in the upper half of the first byte.
const (
	mqttConnect = 1 + iota
	mqttConnack
	mqttPublish
	mqttPuback
	mqttPubrec
	mqttPubrel
	mqttPubcomp
	mqttSubscribe
	mqttSuback
	mqttUnsubscribe
	mqttUnsuback
	mqttPingreq
	mqttPingresp
)

// mqttConn is a connection that speaks MQTT 3.1.1. One goroutine reads; others may write.
type mqttConn struct {
	r  *bufio.Reader
	mu sync.Mutex
	w  *bufio.Writer
}

// dialMQTT connects as a client with a clean session.
func dialMQTT(ctx context.Context, address, client string) (*mqttConn, error) {
	c, err := dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	m := &mqttConn{r: bufio.NewReaderSize(c, 32<<10), w: bufio.NewWriterSize(c, 32<<10)}
	body := mqttString(nil, "MQTT")
	body = append(body, 4, 2, 0, 60) // level, clean session, keep alive for a minute
	if err := m.send(mqttConnect<<4, mqttString(body, client)); err != nil {
		return nil, err
	}
	first, body, err := m.read()
	if err != nil || first>>4 != mqttConnack || len(body) != 2 || body[1] != 0 {
		return nil, fmt.Errorf("no CONNACK but %#x %v: %v", first, body, err)
	}
	return m, nil
}

// mqttString appends a text with its length in front.
func mqttString(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

// mqttPacket appends a packet.
func mqttPacket(b []byte, first byte, body []byte) []byte {
	b = append(b, first)
	return append(binary.AppendUvarint(b, uint64(len(body))), body...)
}

// send writes a packet at once.
func (m *mqttConn) send(first byte, body []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.w.Write(mqttPacket(nil, first, body))
	return m.w.Flush()
}

// publish writes a message; id counts for a quality of service above 0.
func (m *mqttConn) publish(topic string, flags byte, id uint16, payload []byte) error {
	body := mqttString(nil, topic)
	if flags&6 != 0 {
		body = binary.BigEndian.AppendUint16(body, id)
	}
	return m.send(mqttPublish<<4|flags, append(body, payload...))
}

// subscribe asks for topics at one quality of service. The answer is left unread.
func (m *mqttConn) subscribe(id uint16, qos byte, topics ...string) error {
	body := binary.BigEndian.AppendUint16(nil, id)
	for _, t := range topics {
		body = append(mqttString(body, t), qos)
	}
	return m.send(mqttSubscribe<<4|2, body)
}

func (m *mqttConn) read() (first byte, body []byte, err error) {
	if first, err = m.r.ReadByte(); err != nil {
		return 0, nil, err
	}
	n, err := binary.ReadUvarint(m.r)
	if err != nil {
		return 0, nil, err
	}
	if n > 1<<20 {
		return 0, nil, fmt.Errorf("packet of %d bytes", n)
	}
	body = make([]byte, n)
	_, err = io.ReadFull(m.r, body)
	return first, body, err
}

// await reads until a packet of a type has come and returns it. On the way it does what a
// client has to: it acknowledges messages and continues handshakes.
func (m *mqttConn) await(kind byte) ([]byte, error) {
	for {
		first, body, err := m.read()
		if err != nil {
			return nil, err
		}
		if err := m.answer(first, body); err != nil {
			return nil, err
		}
		if first>>4 == kind {
			return body, nil
		}
	}
}

// answer sends the packet that follows the one received, if one does.
func (m *mqttConn) answer(first byte, body []byte) error {
	switch first >> 4 {
	case mqttPublish:
		qos := first >> 1 & 3
		if qos == 0 || len(body) < 2 {
			return nil
		}
		at := 2 + int(binary.BigEndian.Uint16(body))
		if len(body) < at+2 {
			return fmt.Errorf("short message of %d bytes", len(body))
		}
		reply := byte(mqttPuback << 4)
		if qos == 2 {
			reply = mqttPubrec << 4
		}
		return m.send(reply, body[at:at+2])
	case mqttPubrec:
		return m.send(mqttPubrel<<4|2, body[:min(2, len(body))])
	case mqttPubrel:
		return m.send(mqttPubcomp<<4, body[:min(2, len(body))])
	}
	return nil
}
