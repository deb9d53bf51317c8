// Command load drives one of the servers of the lab for a given time over the loopback
// interface, each over its own protocol, and prints what it did.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// drivers are the protocols, by the name of the server. A driver returns when its
// context ends.
var drivers = map[string]func(ctx context.Context, address string, t *tally) error{
	"caddy":      driveCaddy,
	"coredns":    driveDNS,
	"etcd":       driveEtcd,
	"mochi":      driveMQTT,
	"nats":       driveNATS,
	"prometheus": drivePrometheus,
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("load: ")
	length := flag.Duration("for", 15*time.Second, "`length` of the load")
	address := flag.String("address", "", "host:port of the server")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "Usage: load [flags] %s\n",
			strings.Join(slices.Sorted(maps.Keys(drivers)), " | "))
		flag.PrintDefaults()
	}
	flag.Parse()
	drive := drivers[flag.Arg(0)]
	if drive == nil || flag.NArg() != 1 || *address == "" {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *length)
	defer cancel()
	var t tally
	start := time.Now()
	if err := drive(ctx, *address, &t); err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.summary(time.Since(start)))
	if err := t.verdict(); err != nil {
		log.Fatal(err)
	}
}
