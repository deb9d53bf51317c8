package main

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// driveMQTT publishes at each quality of service to subscribers by exact topics and
// wildcards, keeps retained messages, and connects anew all the time.
func driveMQTT(ctx context.Context, address string, t *tally) error {
	var workers []worker
	for id := range 6 {
		c, err := dialMQTT(ctx, address, fmt.Sprintf("sub%d", id))
		if err != nil {
			return err
		}
		if err := c.subscribe(1, byte(id%3), mqttTopics(id)...); err != nil {
			return err
		}
		workers = append(workers, worker{"deliveries", func(context.Context, int) (int, error) {
			_, err := c.await(mqttPublish)
			return 1, err
		}})
	}
	for qos := range byte(3) {
		c, err := dialMQTT(ctx, address, fmt.Sprintf("pub%d", qos))
		if err != nil {
			return err
		}
		workers = append(workers, worker{fmt.Sprintf("publishes at QoS %d", qos), mqttPublisher(c, qos)})
	}
	workers = append(workers, worker{"connections", func(ctx context.Context, turn int) (int, error) {
		return 1, mqttVisit(ctx, address, turn)
	}})
	t.run(ctx, workers)
	return nil
}

// mqttTopics are the subscriptions of a subscriber.
func mqttTopics(id int) []string {
	if id >= 3 {
		return []string{fmt.Sprintf("home/+/sensor/%d", id), "home/kitchen/#"}
	}
	var topics []string
	for i := range 20 {
		topics = append(topics, fmt.Sprintf("home/hall/sensor/%d", i))
	}
	return topics
}

// mqttPublisher sends ten messages at a time and waits until the server has them all. One
// message in ten is retained.
func mqttPublisher(c *mqttConn, qos byte) func(context.Context, int) (int, error) {
	rooms := []string{"kitchen", "hall", "attic"}
	body := bytes.Repeat([]byte("t"), 100)
	last := []byte{mqttPingresp, mqttPuback, mqttPubcomp}[qos]
	return func(_ context.Context, turn int) (int, error) {
		for i := range 10 {
			flags := qos << 1
			if i == 0 {
				flags |= 1
			}
			topic := fmt.Sprintf("home/%s/sensor/%d", rooms[(turn+i)%len(rooms)], i)
			if err := c.publish(topic, flags, uint16(i+1), body); err != nil {
				return 0, err
			}
		}
		answers := 10
		if qos == 0 { // has none: a ping shows that the messages were read
			answers = 1
			if err := c.send(mqttPingreq<<4, nil); err != nil {
				return 0, err
			}
		}
		for range answers {
			if _, err := c.await(last); err != nil {
				return 0, err
			}
		}
		return 10, nil
	}
}

// mqttVisit is a client that connects, gets the retained messages, sends one and leaves.
func mqttVisit(ctx context.Context, address string, turn int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := dialMQTT(ctx, address, fmt.Sprintf("visitor%d", turn%100))
	if err != nil {
		return err
	}
	if err := c.subscribe(1, 1, "home/+/sensor/0", "visit/#"); err != nil {
		return err
	}
	if err := c.publish("visit/hello", 2, 7, []byte("hello")); err != nil {
		return err
	}
	if _, err := c.await(mqttPuback); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
	return nil
}
