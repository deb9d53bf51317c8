package main

import "embed"

// wrappers has a folder for each server: its configuration, and for those whose command can
// be called from another module a main package, with .txt behind its name.
//
//go:embed wrap
var wrappers embed.FS

// server is a server and how it is recorded. It runs in a folder of its own, which is a
// module that requires it.
type server struct {
	name     string
	module   string
	version  string
	siblings []string // modules of the same repository, of the same version, that it requires
	exec     string   // main package, as record -exec takes it
	args     []string
	ready    string   // URL that answers once the server is ready
	address  string   // that the load takes
	own      string   // import-path patterns of the code to judge
	data     []string // files and folders that the server writes; removed before a recording
}

// servers are in the order of the cost of building them.
var servers = []server{
	{
		name: "nats", module: "github.com/nats-io/nats-server/v2", version: "v2.15.2",
		exec: "github.com/nats-io/nats-server/v2", args: []string{"-c", "nats.conf"},
		ready: "http://127.0.0.1:14224/healthz", address: "127.0.0.1:14222",
		own: "github.com/nats-io/nats-server/v2/...", data: []string{"jetstream"},
	},
	{
		name: "mochi", module: "github.com/mochi-mqtt/server/v2", version: "v2.7.9",
		exec:  "github.com/mochi-mqtt/server/v2/cmd",
		args:  []string{"-tcp", "127.0.0.1:11883", "-ws", "127.0.0.1:11882", "-info", "127.0.0.1:11880"},
		ready: "http://127.0.0.1:11880/", address: "127.0.0.1:11883",
		own: "github.com/mochi-mqtt/server/v2/...",
	},
	{
		name: "coredns", module: "github.com/coredns/coredns", version: "v1.15.0",
		exec: ".", args: []string{"-conf", "Corefile"},
		ready: "http://127.0.0.1:15380/ready", address: "127.0.0.1:15353",
		own: "github.com/coredns/coredns/...",
	},
	{
		name: "etcd", module: "go.etcd.io/etcd/server/v3", version: "v3.7.3",
		siblings: []string{"go.etcd.io/etcd/api/v3", "go.etcd.io/etcd/client/pkg/v3",
			"go.etcd.io/etcd/client/v3", "go.etcd.io/etcd/pkg/v3"},
		exec: ".", args: []string{"--config-file", "etcd.yaml"},
		ready: "http://127.0.0.1:12379/health", address: "127.0.0.1:12379",
		own: "go.etcd.io/etcd/...", data: []string{"data"},
	},
	{
		name: "caddy", module: "github.com/caddyserver/caddy/v2", version: "v2.11.9",
		exec: ".", args: []string{"run", "--config", "Caddyfile", "--adapter", "caddyfile"},
		ready: "http://127.0.0.1:18080/index.html", address: "127.0.0.1:18080",
		own: "github.com/caddyserver/caddy/v2/...", data: []string{"storage"},
	},
	{
		name: "prometheus", module: "github.com/prometheus/prometheus", version: "v0.315.0",
		exec: "github.com/prometheus/prometheus/cmd/prometheus",
		args: []string{"--config.file=prometheus.yml", "--storage.tsdb.path=data", "--web.listen-address=127.0.0.1:19090",
			"--web.enable-remote-write-receiver", "--log.level=warn"},
		ready: "http://127.0.0.1:19090/-/ready", address: "127.0.0.1:19090",
		own: "github.com/prometheus/prometheus/...", data: []string{"data"},
	},
}
