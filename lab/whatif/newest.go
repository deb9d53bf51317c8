//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// newest are programs that were fixed, with their input and load, before any row
// of theirs was seen, after the newer ones had been looked at.
func (m maker) newest() []program {
	return []program{
		{
			name: "nsqd", module: "github.com/nsqio/nsq@v1.3.0", pkg: "apps/nsqd", set: newest, files: map[string]string{"load.lua": nsqLoad},
			args:   []string{"--http-address=127.0.0.1:14151", "--tcp-address=127.0.0.1:14150", "--data-path=" + m.at("nsqd", "data"), "--log-level=error"},
			ready:  "http://127.0.0.1:14151/ping",
			load:   m.wrk("http://127.0.0.1:14151/", "-s "+m.at("nsqd", "load.lua")),
			before: "rm -rf data && mkdir data",
		},
		{
			name: "cayley", module: "github.com/cayleygraph/cayley@v0.7.7", pkg: "cmd/cayley", set: newest,
			files: map[string]string{"load.lua": strings.ReplaceAll(cayleyLoad, "ROOT", m.at("cayley", ""))},
			prime: "gunzip -c src/data/30kmoviedata.nq.gz | head -100000 > films.nq",
			args:  []string{"http", "--host", "127.0.0.1:64210", "--load", m.at("cayley", "films.nq")}, ready: "http://127.0.0.1:64210/",
			load: m.wrk("http://127.0.0.1:64210/", "-s "+m.at("cayley", "load.lua")),
		},
		{
			name: "fortio", module: "fortio.org/fortio@v1.60.3", set: newest, files: map[string]string{"load.lua": echoLoad},
			args:  []string{"server", "-http-port", "127.0.0.1:18090", "-grpc-port", "disabled", "-redirect-port", "disabled", "-udp-port", "disabled", "-tcp-port", "disabled", "-quiet"},
			ready: "http://127.0.0.1:18090/debug", load: m.wrk("http://127.0.0.1:18090/", "-s "+m.at("fortio", "load.lua")),
		},
		{
			name: "statsd_exporter", module: "github.com/prometheus/statsd_exporter@v0.31.0", set: newest, files: map[string]string{"feed.sh": statsdFeed},
			args:  []string{"--web.listen-address=127.0.0.1:19102", "--statsd.listen-udp=127.0.0.1:19125", "--statsd.listen-tcp=", "--log.level=error"},
			ready: "http://127.0.0.1:19102/metrics",
			load:  "bash " + m.at("statsd_exporter", "feed.sh") + " && " + m.wrk("http://127.0.0.1:19102/metrics", ""),
		},
		{
			name: "gitleaks", module: "github.com/zricethezav/gitleaks/v8@v8.30.1", batch: true, set: newest,
			args: []string{"dir", "--no-banner", "--no-color", "--exit-code=0", filepath.Join(m.root, "src", "cmd")},
		},
		{
			name: "dupl", module: "github.com/mibk/dupl@v1.1.0", batch: true, set: newest,
			args: []string{"-t", "100", filepath.Join(m.root, "src", "net"), filepath.Join(m.root, "src", "go"), filepath.Join(m.root, "src", "encoding")},
		},
		{
			name: "d2", module: "oss.terrastruct.com/d2@v0.7.0", batch: true, set: newest, files: map[string]string{"in.d2": diagram()},
			args: []string{m.at("d2", "in.d2"), m.at("d2", "out.svg")},
		},
		// The seven before were judged first, and none of them hinders (gcmodel.Forecaster.Hinders).
		// These two allocate on all processors; they were fixed before a row of theirs was seen.
		{
			name: "goconst", module: "github.com/jgautheron/goconst@v1.11.0", pkg: "cmd/goconst", batch: true, set: newest,
			args: []string{"-min-occurrences", "3", filepath.Join(m.root, "src", "...")},
		},
		{
			name: "actionlint", module: "github.com/rhysd/actionlint@v1.7.12", pkg: "cmd/actionlint", batch: true, set: newest, files: map[string]string{"one.yml": workflow()},
			prime: "mkdir in && for i in $(seq 200); do cp one.yml in/$i.yml; done",
			args:  append([]string{"-no-color", "-shellcheck=", "-pyflakes="}, m.copies("actionlint", 200)...),
		},
	}
}

// copies are the names of so many copies of a program's input.
func (m maker) copies(name string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, m.at(name, fmt.Sprintf("in/%d.yml", i+1)))
	}
	return out
}

// workflow has 40 jobs of five steps.
func workflow() string {
	var b strings.Builder
	b.WriteString("name: build\non:\n  push:\n    branches: [main]\n  pull_request:\njobs:\n")
	for i := range 40 {
		fmt.Fprintf(&b, "  job%d:\n    runs-on: ubuntu-latest\n    strategy:\n      matrix:\n        go: ['1.25', '1.26']\n        kind: [a, b, c%d]\n    env:\n      NAME: ${{ matrix.kind }}-${{ github.sha }}\n    steps:\n      - uses: actions/checkout@v4\n", i, i)
		fmt.Fprintf(&b, "      - uses: actions/setup-go@v5\n        with:\n          go-version: ${{ matrix.go }}\n      - id: one\n        run: echo \"value=%d\" >> \"$GITHUB_OUTPUT\"\n", i)
		fmt.Fprintf(&b, "      - if: ${{ steps.one.outputs.value == '%d' && startsWith(github.ref, 'refs/heads/') }}\n        run: go test -run '${{ format('Test{0}', matrix.kind) }}' ./...\n      - run: go vet ./...\n        working-directory: part%d\n", i, i)
	}
	return b.String()
}

// nsqLoad publishes single messages and some twenty at once, to a topic that
// keeps 10,000 of them in memory and no more.
const nsqLoad = `local n = 0
local one = '{"id":12345,"kind":"order","text":"' .. string.rep('some words ', 30) .. '"}'
local many = string.rep(one .. '\n', 20)
request = function()
  n = n + 1
  if n % 10 == 0 then return wrk.format('POST', '/mpub?topic=things%23ephemeral', nil, many) end
  return wrk.format('POST', '/pub?topic=things%23ephemeral', nil, one)
end
`

// cayleyLoad asks with whom an actor has played.
const cayleyLoad = `local actors, n, seen = {}, 0, {}
for line in io.lines('ROOT/films.nq') do
  local id = line:match('</film/performance/actor> <(/en/[%w_]+)>')
  if id and not seen[id] and #actors < 2000 then seen[id] = true; actors[#actors + 1] = id end
end
request = function()
  n = n + 1
  local id = '"<' .. actors[n * 7919 % #actors + 1] .. '>"'
  return wrk.format('POST', '/api/v1/query/gizmo', nil,
    'g.V(' .. id .. ').In("</film/performance/actor>").In("</film/film/starring>").Out("</film/film/starring>").Out("</film/performance/actor>").Unique().GetLimit(30)')
end
`

// echoLoad has bodies of several sizes sent back.
const echoLoad = `local n = 0
local body = string.rep('0123456789abcdef', 256)
request = function()
  n = n + 1
  local k = n % 4
  if k == 0 then return wrk.format('GET', '/debug?n=' .. n) end
  if k == 1 then return wrk.format('GET', '/echo?size=20000') end
  return wrk.format('POST', '/echo', nil, body:sub(1, 256 + n % 16 * 240))
end
`

// statsdFeed sends counters, gauges and timers of 3,000 series.
const statsdFeed = `for i in $(seq 0 299); do
  text=
  for k in 0 1 2 3 4; do text+="requests.p$i.c$k:1|c"$'\n'"size.p$i.c$k:$((i * k))|g"$'\n'; done
  printf '%s' "$text" > /dev/udp/127.0.0.1/19125
done
for i in $(seq 0 99); do printf 'time.p%d:%d|ms\n' $i $((i * 3)) > /dev/udp/127.0.0.1/19125; done
sleep 0.5
`

// diagram is a tree of 45 boxes of two.
func diagram() string {
	var b strings.Builder
	for i := range 45 {
		fmt.Fprintf(&b, "n%d: \"Node %d\" { a: part; b: other; a -> b }\n", i, i)
		if i > 0 {
			fmt.Fprintf(&b, "n%d -> n%d: \"edge %d\"\n", i/3, i, i)
		}
	}
	return b.String()
}
