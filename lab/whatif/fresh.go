//go:build unix

package main

import (
	"fmt"
	"strings"
)

// fresh are programs that were fixed, with their input and load, before any row
// of theirs was seen, while the model was changed once more without them.
func (m maker) fresh() []program {
	return []program{
		{
			name: "influxd", module: "github.com/influxdata/influxdb@v1.8.10", pkg: "cmd/influxd", set: fresh,
			files: map[string]string{"influxd.toml": strings.ReplaceAll(influxConfig, "ROOT", m.at("influxd", "data")), "load.lua": influxLoad},
			args:  []string{"-config", m.at("influxd", "influxd.toml")}, ready: "http://127.0.0.1:18086/ping",
			load: m.wrk("http://127.0.0.1:18086/", "-s "+m.at("influxd", "load.lua")), before: "rm -rf data",
		},
		{
			name: "alertmanager", module: "github.com/prometheus/alertmanager@v0.28.1", pkg: "cmd/alertmanager", set: fresh,
			files: map[string]string{"config.yml": alertConfig, "load.lua": alertLoad},
			args: []string{"--config.file=" + m.at("alertmanager", "config.yml"), "--storage.path=" + m.at("alertmanager", "data"),
				"--web.listen-address=127.0.0.1:19093", "--cluster.listen-address=", "--log.level=error"},
			ready: "http://127.0.0.1:19093/-/ready", load: m.wrk("http://127.0.0.1:19093/", "-s "+m.at("alertmanager", "load.lua")), before: "rm -rf data",
		},
		{
			name: "coredns", module: "github.com/coredns/coredns@v1.12.1", set: fresh,
			files: map[string]string{"Corefile": strings.ReplaceAll(corefile, "ROOT", m.at("coredns", "")), "zone": zone(), "load.lua": dnsLoad},
			args:  []string{"-conf", m.at("coredns", "Corefile")}, ready: "http://127.0.0.1:18444/health",
			load: m.wrk("http://127.0.0.1:18443/", "-s "+m.at("coredns", "load.lua")),
		},
		{
			name: "pocketbase", module: "github.com/pocketbase/pocketbase@v0.36.0", pkg: "examples/base", set: fresh,
			files: map[string]string{"migrations/1700000000_things.js": thingsMigration, "load.lua": thingsLoad},
			prime: "rm -rf kept && ./bin migrate up --dir kept --migrationsDir migrations",
			args:  []string{"serve", "--http=127.0.0.1:18090", "--dir=" + m.at("pocketbase", "data"), "--migrationsDir=" + m.at("pocketbase", "migrations")},
			ready: "http://127.0.0.1:18090/api/health", load: m.wrk("http://127.0.0.1:18090/", "-s "+m.at("pocketbase", "load.lua")),
			before: "rm -rf data && cp -r kept data",
		},
		{
			name: "pushgateway", module: "github.com/prometheus/pushgateway@v1.11.1", set: fresh, files: map[string]string{"load.lua": pushLoad},
			args: []string{"--web.listen-address=127.0.0.1:19091", "--log.level=error"}, ready: "http://127.0.0.1:19091/-/ready",
			load: m.wrk("http://127.0.0.1:19091/", "-s "+m.at("pushgateway", "load.lua")),
		},
		{
			name: "buf", module: "github.com/bufbuild/buf@v1.75.0", pkg: "cmd/buf", batch: true, set: fresh, files: protos(),
			args: []string{"lint", m.at("buf", "protos")},
		},
		{
			name: "errcheck", module: "github.com/kisielk/errcheck@v1.30.0", batch: true, set: fresh, env: []string{"GOFLAGS=-mod=mod"},
			args: []string{"net/...", "crypto/...", "go/...", "encoding/...", "text/...", "html/...", "image/..."},
		},
		{
			name: "hugo", module: "github.com/gohugoio/hugo@v0.152.2", batch: true, set: fresh, files: hugoSite(),
			args: []string{"--source", m.at("hugo", "site"), "--renderToMemory", "--quiet"},
		},
		{
			name: "hclfmt", module: "github.com/hashicorp/hcl/v2@v2.25.0", pkg: "cmd/hclfmt", batch: true, set: fresh, files: map[string]string{"modules.hcl": hclText()},
			args: strings.Fields(strings.Repeat(m.at("hclfmt", "modules.hcl")+" ", 16)),
		},
	}
}

const influxConfig = `reporting-disabled = true
bind-address = "127.0.0.1:18088"
[meta]
dir = "ROOT/meta"
logging-enabled = false
[data]
dir = "ROOT/data"
wal-dir = "ROOT/wal"
query-log-enabled = false
[http]
bind-address = "127.0.0.1:18086"
log-enabled = false
[monitor]
store-enabled = false
[logging]
level = "error"
`

// influxLoad makes a database and writes a hundred points a request, of 2,000 series.
const influxLoad = `local n = 0
request = function()
  n = n + 1
  if n <= 8 then return wrk.format('POST', '/query?q=CREATE+DATABASE+d', nil, '') end
  local t = {}
  for i = 1, 100 do
    local k = n * 100 + i
    t[i] = string.format('requests,host=h%d,path=p%d count=%di,seconds=%d.5,code="ok%d"', k % 200, k % 10, k, k % 90, k % 5)
  end
  return wrk.format('POST', '/write?db=d', nil, table.concat(t, '\n'))
end
`

const alertConfig = "route: {receiver: none, group_by: [service], group_wait: 1s, group_interval: 5s}\nreceivers: [{name: none}]\n"

// alertLoad sends fifty of 1,000 alerts in one request of twenty, and asks for
// the alerts of a service in the others.
const alertLoad = `local n = 0
request = function()
  n = n + 1
  if n > 20 and n % 20 ~= 0 then
    return wrk.format('GET', string.format('/api/v2/alerts?filter=service%%3D%%22s%d%%22', n * 7919 % 50))
  end
  local t = {}
  for i = 1, 50 do
    local k = (n <= 20 and n or n / 20) * 50 % 1000 + i
    t[i] = string.format('{"labels":{"alertname":"a%d","service":"s%d","instance":"host-%d","severity":"page"},"annotations":{"summary":"alert %d of service s%d fires"}}', k, k % 50, k, k, k % 50)
  end
  return wrk.format('POST', '/api/v2/alerts', {['Content-Type'] = 'application/json'}, '[' .. table.concat(t, ',') .. ']')
end
`

// corefile has CoreDNS answer DNS over HTTP, without TLS.
const corefile = `https://example.org:18443 {
  bind 127.0.0.1
  file ROOT/zone example.org
}
.:18445 {
  bind 127.0.0.1
  health 127.0.0.1:18444
}
`

// zone has 5,000 names.
func zone() string {
	var b strings.Builder
	b.WriteString("$ORIGIN example.org.\n@ 3600 IN SOA ns.example.org. admin.example.org. 1 7200 3600 1209600 3600\n@ 3600 IN NS ns\nns 3600 IN A 192.0.2.1\n")
	for i := range 5_000 {
		fmt.Fprintf(&b, "h%04d 300 IN A 192.0.2.%d\nh%04d 300 IN A 198.51.100.%d\nh%04d 300 IN TXT \"host number %d\"\n", i, i%250, i, i%250, i, i)
	}
	return b.String()
}

// dnsLoad asks for the addresses of the names in turn, in the body of a
// request.
const dnsLoad = `local n = 0
request = function()
  n = n + 1
  local q = '\0\0\1\0\0\1\0\0\0\0\0\0' .. '\5' .. string.format('h%04d', n * 7919 % 5000) .. '\7example\3org\0' .. '\0\1\0\1'
  return wrk.format('POST', '/dns-query', {['Content-Type'] = 'application/dns-message'}, q)
end
`

// thingsMigration makes a public collection of 1,000 records.
const thingsMigration = `migrate((app) => {
  const things = new Collection({type: "base", name: "things", listRule: "", viewRule: "", fields: [
    {name: "title", type: "text"}, {name: "count", type: "number"}, {name: "text", type: "text"}, {name: "more", type: "json"}]})
  app.save(things)
  for (let i = 0; i < 1000; i++) {
    const r = new Record(things)
    r.set("title", "thing " + i)
    r.set("count", i * 7919 % 1000)
    r.set("text", "some words about thing ".repeat(8) + i)
    r.set("more", {tags: ["a" + i % 10, "b" + i % 7], size: i})
    app.save(r)
  }
}, (app) => {})
`

// thingsLoad asks for pages of records, sorted and filtered.
const thingsLoad = `local n = 0
request = function()
  n = n + 1
  return wrk.format('GET', string.format('/api/collections/things/records?page=%d&perPage=30&sort=-count&filter=(count%%3E%d)', n % 10 + 1, n * 7919 % 500))
end
`

// pushLoad pushes groups of twenty metrics, 300 of them, and reads all metrics
// in one request of fifty.
const pushLoad = `local n = 0
request = function()
  n = n + 1
  if n % 50 == 0 then return wrk.format('GET', '/metrics') end
  local t = {}
  for i = 1, 20 do
    t[i] = string.format('job_metric_%d{part="p%d"} %d\n', i, i % 4, n)
  end
  return wrk.format('PUT', '/metrics/job/batch/instance/i' .. n * 7919 % 300, nil, table.concat(t))
end
`

// hugoSite is a site of 4,000 pages in twenty sections, with lists, tags and a
// feed for each.
func hugoSite() map[string]string {
	out := map[string]string{
		"site/hugo.toml":                    "baseURL = 'https://example.org/'\ntitle = 'A site'\n",
		"site/layouts/_default/baseof.html": "<!doctype html><html><head><title>{{ .Title }}</title></head><body>{{ block \"main\" . }}{{ end }}</body></html>\n",
		"site/layouts/_default/single.html": "{{ define \"main\" }}<h1>{{ .Title }}</h1>{{ .TableOfContents }}{{ .Content }}<p>{{ .WordCount }} words</p>{{ range .GetTerms \"tags\" }}<a href=\"{{ .RelPermalink }}\">{{ .Title }}</a> {{ end }}{{ with .NextInSection }}<a href=\"{{ .RelPermalink }}\">next</a>{{ end }}{{ end }}\n",
		"site/layouts/_default/list.html":   "{{ define \"main\" }}<h1>{{ .Title }}</h1><ul>{{ range .Pages }}<li><a href=\"{{ .RelPermalink }}\">{{ .Title }}</a> {{ .Summary }}</li>{{ end }}</ul>{{ end }}\n",
	}
	for i := range 4_000 {
		var b strings.Builder
		fmt.Fprintf(&b, "---\ntitle: Page %d\ndate: 2024-01-%02d\ntags: [t%d, u%d]\n---\n", i, i%28+1, i%40, i%90)
		for j := range 12 {
			fmt.Fprintf(&b, "## Part %d\n\nSome *words* of page %d with `code`, a [link](https://example.com/%d) and\nmore of them to fill a line.\n\n- one\n- two of %d\n\n```go\nfunc f%d() int { return %d }\n```\n\n", j, i, j, j, i, j)
		}
		out[fmt.Sprintf("site/content/s%02d/p%04d.md", i%20, i)] = b.String()
	}
	return out
}

// hclText is a configuration of 4,000 resources.
func hclText() string {
	var b strings.Builder
	for i := range 4_000 {
		fmt.Fprintf(&b, "resource \"server\" \"s%d\" {\n  name=\"server-${var.zone}-%d\"\n  size = var.big ? \"large\" : \"small\"\n   ports=[80,443, %d]\n", i, i, 8000+i)
		fmt.Fprintf(&b, "  tags={ team = \"t%d\", cost=\"${local.costs[%d]}\" }\n  disk {\n  gigabytes=%d\n    kind   = \"ssd\" # fast\n  }\n}\n\n", i%20, i%9, i%500+1)
	}
	return b.String()
}

// protos are 200 files of twenty messages and a service each, of which nine in
// ten use the messages of another.
func protos() map[string]string {
	out := map[string]string{"protos/buf.yaml": "version: v2\nlint: {use: [STANDARD, COMMENTS]}\n"}
	for i := range 200 {
		var b strings.Builder
		base := i - i%10
		fmt.Fprintf(&b, "syntax = \"proto3\";\n\npackage shop.p%03d.v1;\n\n", i)
		if i != base {
			fmt.Fprintf(&b, "import \"shop/p%03d/v1/p.proto\";\n\n", base)
		}
		for j := range 20 {
			fmt.Fprintf(&b, "// Thing%d is one of them.\nmessage Thing%d {\n  // Its name.\n  string name = 1;\n  repeated int64 counts = 2;\n  map<string, string> labels = 3;\n", j, j)
			for k := 4; k < 12; k++ {
				fmt.Fprintf(&b, "  // Field %d.\n  optional double value%d = %d;\n", k, k, k)
			}
			if i != base {
				fmt.Fprintf(&b, "  shop.p%03d.v1.Thing%d other = 12;\n", base, j)
			}
			b.WriteString("}\n\n")
		}
		b.WriteString("service ShopService {\n")
		for j := range 20 {
			fmt.Fprintf(&b, "  // Get%d gets one.\n  rpc Get%d(Thing%d) returns (Thing%d);\n", j, j, j, j)
		}
		b.WriteString("}\n")
		out[fmt.Sprintf("protos/shop/p%03d/v1/p.proto", i)] = b.String()
	}
	return out
}
