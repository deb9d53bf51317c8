//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maker knows what the programs have in common.
type maker struct {
	o    options
	self string // this program
	root string // GOROOT
	load string // what a load command begins with
}

// programs are what the forecasts are judged by.
func programs(o options) []program {
	m := maker{o: o, self: os.Args[0]}
	if self, err := os.Executable(); err == nil {
		m.self = self
	}
	if out, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		m.root = strings.TrimSpace(string(out))
	}
	if o.realtime {
		m.load = "chrt --other 0 " // the load is a child of what runs with that priority
	}
	return slices.Concat(m.tuned(), m.held(), m.later(), m.last(), m.fresh(), m.newer(), m.newest())
}

func (m maker) at(name, file string) string { return filepath.Join(m.o.work, name, file) }

func (m maker) wrk(url, more string) string {
	return fmt.Sprintf("%swrk -t1 -c8 -d%ds %s %s", m.load, max(1, int(m.o.window/time.Second)), more, url)
}

func (m maker) tuned() []program {
	return []program{
		{
			name: "caddy", set: tuned, module: "github.com/caddyserver/caddy/v2@v2.11.9", pkg: "cmd/caddy",
			files: map[string]string{"caddy.json": strings.ReplaceAll(caddyConfig, "ROOT", m.at("caddy", "www")), "www/index.html": caddyPage()},
			args:  []string{"run", "--config", m.at("caddy", "caddy.json")}, ready: "http://127.0.0.1:18080/",
			load: m.wrk("http://127.0.0.1:18080/", "-H 'Accept-Encoding: gzip'"),
		},
		{
			name: "etcd", set: tuned, module: "go.etcd.io/etcd/server/v3@v3.7.3", drop: true, files: map[string]string{"load.lua": etcdLoad},
			args: []string{"--data-dir", m.at("etcd", "data"), "--listen-client-urls", "http://127.0.0.1:12379", "--advertise-client-urls", "http://127.0.0.1:12379",
				"--listen-peer-urls", "http://127.0.0.1:12380", "--log-level", "error", "--unsafe-no-fsync"},
			ready: "http://127.0.0.1:12379/health", load: m.wrk("http://127.0.0.1:12379/", "-s "+m.at("etcd", "load.lua")), before: "rm -rf data",
		},
		{
			name: "victoriametrics", set: tuned, module: "github.com/VictoriaMetrics/VictoriaMetrics@v1.102.0", pkg: "app/victoria-metrics",
			files: map[string]string{"load.lua": victoriaLoad},
			args:  []string{"-storageDataPath=" + m.at("victoriametrics", "data"), "-httpListenAddr=127.0.0.1:18428", "-loggerLevel=ERROR", "-memory.allowedBytes=256MB"},
			ready: "http://127.0.0.1:18428/health", load: m.wrk("http://127.0.0.1:18428/", "-s "+m.at("victoriametrics", "load.lua")), before: "rm -rf data",
		},
		{
			name: "nats-server", set: tuned, module: "github.com/nats-io/nats-server/v2@v2.15.2",
			args:  []string{"-a", "127.0.0.1", "-p", "14222", "-m", "14224", "-js", "-sd", m.at("nats-server", "data")},
			ready: "http://127.0.0.1:14224/healthz", load: fmt.Sprintf("%s%s -publish 127.0.0.1:14222 -window %s", m.load, m.self, m.o.window), before: "rm -rf data",
		},
		{name: "gofumpt", set: tuned, module: "mvdan.cc/gofumpt@v0.12.0", args: []string{"-l", filepath.Join(m.root, "src")}, batch: true},
		{
			name: "staticcheck", set: tuned, module: "honnef.co/go/tools@v0.7.0", pkg: "cmd/staticcheck", batch: true,
			args: []string{"-checks", "SA4006", "net/http"}, env: []string{"STATICCHECK_CACHE=" + m.at("staticcheck", "cache")}, before: "rm -rf cache",
		},
	}
}

func (m maker) held() []program {
	return []program{
		{
			name: "prometheus", module: "github.com/prometheus/prometheus@v0.315.0", pkg: "cmd/prometheus", drop: true, set: held,
			files: map[string]string{"seed.yml": prometheusConfig("500ms"), "run.yml": prometheusConfig("1h")},
			// Twenty seconds of its own metrics are what the queries read.
			prime:  "timeout -s INT 20 ./bin --config.file=seed.yml --storage.tsdb.path=seed --web.listen-address=127.0.0.1:19090 || test -d seed",
			before: "rm -rf data && cp -r seed data",
			args: []string{"--config.file=" + m.at("prometheus", "run.yml"), "--storage.tsdb.path=" + m.at("prometheus", "data"), "--storage.tsdb.retention.time=10y",
				"--web.listen-address=127.0.0.1:19090", "--log.level=error"},
			ready: "http://127.0.0.1:19090/-/ready",
			load:  m.wrk("'http://127.0.0.1:19090/api/v1/query?query=%7B__name__%3D~%22.%2B%22%7D%5B1w%5D'", ""),
		},
		{
			name: "opa", module: "github.com/open-policy-agent/opa@v1.22.0", set: held,
			files: map[string]string{"policy.rego": opaPolicy, "data.json": opaData(), "load.lua": opaLoad},
			args:  []string{"run", "--server", "--addr", "127.0.0.1:18181", "--log-level", "error", "--disable-telemetry", m.at("opa", "policy.rego"), m.at("opa", "data.json")},
			ready: "http://127.0.0.1:18181/health", load: m.wrk("http://127.0.0.1:18181/", "-s "+m.at("opa", "load.lua")),
		},
		{
			name: "gojq", module: "github.com/itchyny/gojq@v0.12.16", pkg: "cmd/gojq", batch: true, set: held,
			files: map[string]string{"in.json": jqData()},
			args:  []string{"group_by(.team) | map({team: .[0].team, n: length, sum: (map(.values | add) | add), tags: (map(.tags[]) | group_by(.) | map({(.[0]): length}) | add)})", m.at("gojq", "in.json")},
		},
		{
			name: "starlark", module: "go.starlark.net@v0.0.0-20260908191801-89a6a09411d5", pkg: "cmd/starlark", batch: true, set: held,
			files: map[string]string{"cache.star": starlarkScript}, args: []string{m.at("starlark", "cache.star")},
		},
		{
			name: "jsonnet", module: "github.com/google/go-jsonnet@v0.22.0", pkg: "cmd/jsonnet", batch: true, set: held,
			files: map[string]string{"in.jsonnet": jsonnetText}, args: []string{"--max-stack", "100000", m.at("jsonnet", "in.jsonnet")},
		},
		{name: "deadcode", module: "golang.org/x/tools@v0.52.0", pkg: "cmd/deadcode", args: []string{"-test", "./..."}, env: []string{"GOFLAGS=-mod=mod"}, batch: true, set: held},
	}
}

func (m maker) later() []program {
	return []program{
		{
			name: "present", module: "golang.org/x/tools@v0.52.0", pkg: "cmd/present", set: later,
			files: map[string]string{"content/talk.slide": talk()},
			args:  []string{"-http=127.0.0.1:13999", "-play=false", "-content=" + m.at("present", "content")},
			ready: "http://127.0.0.1:13999/", load: m.wrk("http://127.0.0.1:13999/talk.slide", ""),
		},
		{
			name: "glua", module: "github.com/yuin/gopher-lua@v1.1.2", pkg: "cmd/glua", batch: true, set: later,
			files: map[string]string{"table.lua": luaScript}, args: []string{m.at("glua", "table.lua")},
		},
		{
			name: "goimports", module: "golang.org/x/tools@v0.52.0", pkg: "cmd/goimports", batch: true, set: later,
			args: []string{"-format-only", "-l", filepath.Join(m.root, "src", "net"), filepath.Join(m.root, "src", "runtime"), filepath.Join(m.root, "src", "crypto"),
				filepath.Join(m.root, "src", "encoding"), filepath.Join(m.root, "src", "os"), filepath.Join(m.root, "src", "cmd", "link")},
		},
	}
}

func (m maker) last() []program {
	return []program{
		{
			name: "shfmt", module: "mvdan.cc/sh/v3@v3.14.1", pkg: "cmd/shfmt", batch: true, set: last,
			files: map[string]string{"long.sh": shellScript()}, args: []string{"-s", "-d", m.at("shfmt", "long.sh")},
		},
		{
			name: "callgraph", module: "golang.org/x/tools@v0.52.0", pkg: "cmd/callgraph", batch: true, set: last,
			args: []string{"-algo=rta", "-format=digraph", "./cmd/callgraph"}, env: []string{"GOFLAGS=-mod=mod"},
		},
		{
			name: "registry", module: "github.com/distribution/distribution/v3@v3.1.2", pkg: "cmd/registry", set: last,
			files: map[string]string{"config.yml": "version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\nstorage: {inmemory: {}}\nhttp: {addr: 127.0.0.1:15000}\n"},
			args:  []string{"serve", m.at("registry", "config.yml")}, ready: "http://127.0.0.1:15000/v2/",
			load: m.wrk("http://127.0.0.1:15000/v2/_catalog", ""),
		},
		{
			name: "pprof", module: "github.com/google/pprof@v0.0.0-20260906184651-6331bc6350fe", set: last,
			args: []string{"-http=127.0.0.1:13998", "-no_browser", "-symbolize=none", m.at("pprof", "src/internal/driver/testdata/cppbench.cpu")}, ready: "http://127.0.0.1:13998/ui/top",
			load: m.wrk("http://127.0.0.1:13998/ui/flamegraph", ""),
		},
		{
			name: "godoc", module: "golang.org/x/tools@v0.30.0", pkg: "cmd/godoc", set: last, files: map[string]string{"load.lua": godocLoad},
			args: []string{"-http=127.0.0.1:13997", "-goroot=" + m.root, "-links=true"}, ready: "http://127.0.0.1:13997/pkg/sort/",
			load: m.wrk("http://127.0.0.1:13997/", "-s "+m.at("godoc", "load.lua")),
		},
		{
			name: "goja", module: "github.com/dop251/goja@v0.0.0-20260917113740-793a2a65c13b", pkg: "goja", batch: true, set: last,
			files: map[string]string{"graph.js": gojaScript}, args: []string{m.at("goja", "graph.js")},
		},
		{
			name: "yaegi", module: "github.com/traefik/yaegi@v0.16.1", pkg: "cmd/yaegi", batch: true, set: last,
			files: map[string]string{"words/words.go": yaegiProgram}, args: []string{"run", m.at("yaegi", "words/words.go")},
		},
		{
			name: "cue", module: "cuelang.org/go@v0.17.1", pkg: "cmd/cue", batch: true, set: last,
			files: map[string]string{"in.cue": cueText}, args: []string{"export", m.at("cue", "in.cue")},
		},
	}
}

const caddyConfig = `{"admin":{"disabled":true},"logging":{"logs":{"default":{"level":"ERROR"}}},
"apps":{"http":{"servers":{"s":{"listen":["127.0.0.1:18080"],"automatic_https":{"disable":true},"routes":[{"handle":[
{"handler":"encode","encodings":{"gzip":{}}},{"handler":"templates"},{"handler":"file_server","root":"ROOT"}]}]}}}}}`

func caddyPage() string {
	var b strings.Builder
	b.WriteString("<html><body>{{$x := list 1 2 3 4 5 6 7 8}}")
	for i := range 200 {
		fmt.Fprintf(&b, "<p>{{range $x}}{{.}} {{end}}line %d of the page with some words to fill it {{now | date \"2006-01-02\"}}</p>\n", i)
	}
	b.WriteString("</body></html>")
	return b.String()
}

// etcdLoad puts each of 2,000 keys once, with values of 200 bytes, and then one
// for forty ranges of fifty, as etcd's JSON gateway takes them. etcd keeps what
// a key was before: more puts would let its live heap grow with the work done,
// which differs between runs.
const etcdLoad = `local n = 0
local b = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
local function enc(data)
  return ((data:gsub('.', function(x) local r,b='',x:byte() for i=8,1,-1 do r=r..(b%2^i-b%2^(i-1)>0 and '1' or '0') end return r end)..'0000'):gsub('%d%d%d?%d?%d?%d?', function(x)
    if (#x < 6) then return '' end local c=0 for i=1,6 do c=c+(x:sub(i,i)=='1' and 2^(6-i) or 0) end return b:sub(c+1,c+1) end)..({ '', '==', '=' })[#data%3+1])
end
local value = enc(string.rep('v', 200))
local first, puts = {}, {}
for i = 0, 1999 do
  first[i] = '{"key":"'..enc(string.format('k%04d', i))..'","range_end":"'..enc('l')..'","limit":"50"}'
  puts[i] = '{"key":"'..enc(string.format('k%04d', i))..'","value":"'..value..'"}'
end
request = function()
  n = n + 1
  if n <= 2000 or n % 40 == 0 then return wrk.format('POST', '/v3/kv/put', nil, puts[(n*7919) % 2000]) end
  return wrk.format('POST', '/v3/kv/range', nil, first[(n*104729) % 2000])
end
`

// victoriaLoad imports a hundred samples a request, of 20,000 series.
const victoriaLoad = `local n = 0
request = function()
  local t = {}
  for i = 1, 100 do
    n = n + 1
    t[i] = string.format('requests_total{instance="host-%d",path="/api/v1/p%d",code="%d"} %d', n % 200, n % 20, 200 + n % 5, n)
  end
  return wrk.format('POST', '/api/v1/import/prometheus', nil, table.concat(t, '\n'))
end
`
