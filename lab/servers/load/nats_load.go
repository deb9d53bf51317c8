package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"
)

var natsRegions = []string{"eu", "us", "ap", "af"}

// driveNATS publishes to plain and wildcard subscribers and to queue groups, makes
// requests, writes to a stream that consumers read, and connects anew all the time.
func driveNATS(ctx context.Context, address string, t *tally) error {
	setup, err := dialNATS(ctx, address)
	if err != nil {
		return err
	}
	if err := natsStream(setup); err != nil {
		return err
	}
	var workers []worker
	add := func(n int, kind string, make func(c *natsConn, id int) func(context.Context, int) (int, error)) error {
		for id := range n {
			c, err := dialNATS(ctx, address)
			if err != nil {
				return err
			}
			workers = append(workers, worker{kind, make(c, id)})
		}
		return nil
	}
	for _, role := range []struct {
		n    int
		kind string
		make func(*natsConn, int) func(context.Context, int) (int, error)
	}{
		{6, "deliveries", natsSubscriber}, {2, "replies", natsResponder},
		{2, "publishes", natsPublisher}, {2, "requests", natsRequester},
		{2, "stream writes", natsWriter}, {2, "stream reads", natsReader},
	} {
		if err := add(role.n, role.kind, role.make); err != nil {
			return err
		}
	}
	workers = append(workers, worker{"connections", func(ctx context.Context, turn int) (int, error) {
		return 1, natsVisit(ctx, address, turn)
	}})
	t.run(ctx, workers)
	return nil
}

// natsStream makes the stream and its consumer, which may be there from a load before.
func natsStream(c *natsConn) error {
	for _, request := range []struct {
		subject string
		body    any
	}{
		{"$JS.API.STREAM.CREATE.EVENTS", map[string]any{"name": "EVENTS", "subjects": []string{"events.>"},
			"storage": "file", "retention": "limits", "discard": "old", "max_msgs": 200_000, "num_replicas": 1}},
		{"$JS.API.CONSUMER.DURABLE.CREATE.EVENTS.WORK", map[string]any{"stream_name": "EVENTS",
			"config": map[string]any{"durable_name": "WORK", "ack_policy": "explicit", "deliver_policy": "new",
				"max_ack_pending": 5000}}},
	} {
		answer, err := c.ask(request.subject, request.body)
		if err != nil {
			return err
		}
		if strings.Contains(answer, `"error"`) {
			return fmt.Errorf("%s: %s", request.subject, answer)
		}
	}
	return nil
}

// natsSubscriber receives what the publishers send: the first by exact subjects, the
// others by wildcards, the last two as a queue group.
func natsSubscriber(c *natsConn, id int) func(context.Context, int) (int, error) {
	switch id {
	case 0:
		for i := range 100 {
			c.send("SUB orders.eu.%d %d", i, i+1)
		}
	case 4, 5:
		c.send("SUB orders.> workers 1")
	default:
		c.send("SUB orders.%s.* 1", natsRegions[id%len(natsRegions)])
		c.send("SUB orders.*.7 2")
	}
	err := c.sync()
	return func(context.Context, int) (int, error) {
		if err != nil {
			return 0, err
		}
		for range 100 {
			if _, err := c.next(); err != nil {
				return 0, err
			}
		}
		return 100, nil
	}
}

// natsPublisher sends batches and waits after each until the server has read it. One
// message in four has a header.
func natsPublisher(c *natsConn, id int) func(context.Context, int) (int, error) {
	body := bytes.Repeat([]byte("x"), 128)
	return func(_ context.Context, turn int) (int, error) {
		for i := range 100 {
			subject := fmt.Sprintf("orders.%s.%d", natsRegions[(turn+id)%len(natsRegions)], i)
			if i%4 == 3 {
				c.publishHeader(subject, fmt.Sprintf("Trace-Id: %d-%d", turn, i), body)
			} else {
				c.publish(subject, "", body)
			}
		}
		return 100, c.sync()
	}
}

func natsResponder(c *natsConn, _ int) func(context.Context, int) (int, error) {
	c.send("SUB svc.price.* pricing 1")
	err := c.sync()
	return func(context.Context, int) (int, error) {
		if err != nil {
			return 0, err
		}
		m, err := c.next()
		if err != nil {
			return 0, err
		}
		c.publish(m.reply, "", []byte(`{"price":1299,"currency":"EUR"}`))
		return 1, c.w.Flush()
	}
}

// natsRequester subscribes to one wildcard inbox, as clients do, and asks one at a time.
func natsRequester(c *natsConn, id int) func(context.Context, int) (int, error) {
	inbox := fmt.Sprintf("_INBOX.req%d", id)
	c.send("SUB %s.* 1", inbox)
	return func(_ context.Context, turn int) (int, error) {
		c.publish(fmt.Sprintf("svc.price.%d", turn%50), fmt.Sprintf("%s.%d", inbox, turn), []byte(`{"sku":"A-17"}`))
		if err := c.w.Flush(); err != nil {
			return 0, err
		}
		_, err := c.next()
		return 1, err
	}
}

// natsWriter writes to the stream with 20 acknowledgements under way.
func natsWriter(c *natsConn, id int) func(context.Context, int) (int, error) {
	inbox := fmt.Sprintf("_INBOX.ack%d", id)
	c.send("SUB %s.* 1", inbox)
	body := bytes.Repeat([]byte("y"), 256)
	return func(_ context.Context, turn int) (int, error) {
		for i := range 20 {
			c.publish(fmt.Sprintf("events.%d.created", i), fmt.Sprintf("%s.%d", inbox, i), body)
		}
		if err := c.w.Flush(); err != nil {
			return 0, err
		}
		for range 20 {
			if _, err := c.next(); err != nil {
				return 0, err
			}
		}
		return 20, nil
	}
}

// natsReader fetches from the consumer and acknowledges each message.
func natsReader(c *natsConn, id int) func(context.Context, int) (int, error) {
	inbox := fmt.Sprintf("_INBOX.pull%d", id)
	c.send("SUB %s.* 1", inbox)
	return func(_ context.Context, turn int) (int, error) {
		c.publish("$JS.API.CONSUMER.MSG.NEXT.EVENTS.WORK", fmt.Sprintf("%s.%d", inbox, turn),
			[]byte(`{"batch":50,"expires":1000000000}`))
		if err := c.w.Flush(); err != nil {
			return 0, err
		}
		for got := 0; got < 50; got++ {
			m, err := c.next()
			if err != nil {
				return 0, err
			}
			if !strings.HasPrefix(m.reply, "$JS.ACK") {
				return got, nil // the time is over
			}
			c.publish(m.reply, "", []byte("+ACK"))
		}
		return 50, c.w.Flush()
	}
}

// natsVisit is a client that connects, subscribes, receives one message and leaves.
func natsVisit(ctx context.Context, address string, turn int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := dialNATS(ctx, address)
	if err != nil {
		return err
	}
	for i := range 10 {
		c.send("SUB visit.%d.%d %d", turn, i, i+1)
	}
	c.publish(fmt.Sprintf("visit.%d.3", turn), "", []byte("hello"))
	if err := c.w.Flush(); err != nil {
		return err
	}
	if _, err := c.next(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
	return nil
}
