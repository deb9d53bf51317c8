//go:build unix

package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// program is a program under test: a main package of a public module, how to
// run it, and the load on it.
type program struct {
	name   string
	module string // path@version
	pkg    string // main package, relative to the module
	drop   bool   // the module's replace directives point outside of it
	env    []string
	files  map[string]string // written to the work folder's sub-folder of that name
	args   []string
	ready  string
	load   string   // shell command; "" for a program that ends by itself
	fresh  []string // folders, removed before each run
	batch  bool
}

func (o options) dir(p program, more ...string) string {
	return filepath.Join(append([]string{o.work, p.name}, more...)...)
}

//go:embed sampler.go.tmpl
var sampler string

// build copies the module, adds the sampler to its main package and builds it.
func (p program) build(o options) error {
	for name, text := range p.files {
		at := o.dir(p, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			return err
		}
	}
	source := o.dir(p, "src")
	if _, err := os.Stat(o.dir(p, "bin")); err == nil {
		return nil
	}
	out, err := exec.Command("go", "mod", "download", "-json", p.module).Output()
	if err != nil {
		return fmt.Errorf("fetch %s: %w", p.module, err)
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(out, &found); err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir(p), 0o755); err != nil {
		return err
	}
	if err := shell("", "cp -r %q %q && chmod -R u+w %q", found.Dir, source, source); err != nil {
		return err
	}
	if p.drop {
		if err := dropReplace(source); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(source, p.pkg, "zz_whatif.go"), []byte(sampler), 0o644); err != nil {
		return err
	}
	return shell(source, "go build -mod=mod -o %q ./%s", o.dir(p, "bin"), p.pkg)
}

// dropReplace removes the replace directives of a module.
func dropReplace(source string) error {
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = source
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var mod struct {
		Replace []struct{ Old struct{ Path string } }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		return err
	}
	for _, r := range mod.Replace {
		if err := shell(source, "go mod edit -dropreplace %q", r.Old.Path); err != nil {
			return err
		}
	}
	return nil
}

func shell(dir, format string, args ...any) error {
	cmd := exec.Command("sh", "-c", fmt.Sprintf(format, args...))
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", cmd.Args[2], err, lastLine(out))
	}
	return nil
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// programs are what the forecasts are judged by.
func programs(o options) []program {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	sec := max(1, int(o.window/time.Second))
	wrk := func(url, more string) string { return fmt.Sprintf("wrk -t1 -c8 -d%ds %s %s", sec, more, url) }
	at := func(name, file string) string { return filepath.Join(o.work, name, file) }
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		goroot = nil
	}
	root := strings.TrimSpace(string(goroot))
	return []program{
		{
			name: "caddy", module: "github.com/caddyserver/caddy/v2@v2.11.9", pkg: "cmd/caddy",
			files: map[string]string{"caddy.json": strings.ReplaceAll(caddyConfig, "ROOT", at("caddy", "www")), "www/index.html": caddyPage()},
			args:  []string{"run", "--config", at("caddy", "caddy.json")}, ready: "http://127.0.0.1:18080/",
			load: wrk("http://127.0.0.1:18080/", "-H 'Accept-Encoding: gzip'"),
		},
		{
			name: "etcd", module: "go.etcd.io/etcd/server/v3@v3.7.3", drop: true, files: map[string]string{"load.lua": etcdLoad},
			args: []string{"--data-dir", at("etcd", "data"), "--listen-client-urls", "http://127.0.0.1:12379", "--advertise-client-urls", "http://127.0.0.1:12379",
				"--listen-peer-urls", "http://127.0.0.1:12380", "--log-level", "error", "--unsafe-no-fsync"},
			ready: "http://127.0.0.1:12379/health", load: wrk("http://127.0.0.1:12379/", "-s "+at("etcd", "load.lua")), fresh: []string{"data"},
		},
		{
			name: "victoriametrics", module: "github.com/VictoriaMetrics/VictoriaMetrics@v1.102.0", pkg: "app/victoria-metrics",
			files: map[string]string{"load.lua": victoriaLoad},
			args:  []string{"-storageDataPath=" + at("victoriametrics", "data"), "-httpListenAddr=127.0.0.1:18428", "-loggerLevel=ERROR", "-memory.allowedBytes=256MB"},
			ready: "http://127.0.0.1:18428/health", load: wrk("http://127.0.0.1:18428/", "-s "+at("victoriametrics", "load.lua")), fresh: []string{"data"},
		},
		{
			name: "nats-server", module: "github.com/nats-io/nats-server/v2@v2.15.2",
			args:  []string{"-a", "127.0.0.1", "-p", "14222", "-m", "14224", "-js", "-sd", at("nats-server", "data")},
			ready: "http://127.0.0.1:14224/healthz", load: fmt.Sprintf("%s -publish 127.0.0.1:14222 -window %s", self, o.window), fresh: []string{"data"},
		},
		{name: "gofumpt", module: "mvdan.cc/gofumpt@v0.12.0", args: []string{"-l", filepath.Join(root, "src")}, batch: true},
		{
			name: "staticcheck", module: "honnef.co/go/tools@v0.7.0", pkg: "cmd/staticcheck", batch: true,
			args: []string{"-checks", "SA4006", "net/http"}, env: []string{"STATICCHECK_CACHE=" + at("staticcheck", "cache")}, fresh: []string{"cache"},
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
