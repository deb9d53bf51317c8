//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// prometheusConfig has Prometheus read its own metrics that often.
func prometheusConfig(every string) string {
	return fmt.Sprintf("global: {scrape_interval: %s, scrape_timeout: %s}\nscrape_configs: [{job_name: self, static_configs: [{targets: ['127.0.0.1:19090']}]}]\n", every, every)
}

const opaPolicy = `package app

default allow := false

allow if {
	some role in data.users[input.user].roles
	some grant in data.roles[role]
	grant.path == input.path
	grant.method == input.method
}

paths contains grant.path if {
	some role in data.users[input.user].roles
	some grant in data.roles[role]
}
`

// opaData are 20,000 users with three of 200 roles each.
func opaData() string {
	var b strings.Builder
	b.WriteString(`{"users":{`)
	for i := range 20_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"user%d":{"name":"name of user %d","roles":["role%d","role%d","role%d"]}`, i, i, i%200, i*7%200, i*13%200)
	}
	b.WriteString(`},"roles":{`)
	for i := range 200 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"role%d":[`, i)
		for j := range 8 {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"method":"GET","path":"/things/%d"}`, (i*8+j)%500)
		}
		b.WriteByte(']')
	}
	b.WriteString("}}\n")
	return b.String()
}

const opaLoad = `local n = 0
request = function()
  n = n + 1
  local body = string.format('{"input":{"user":"user%d","path":"/things/%d","method":"GET"}}', (n*7919) % 20000, n % 500)
  return wrk.format('POST', '/v1/data/app', {['Content-Type'] = 'application/json'}, body)
end
`

// jqData is an array of 150,000 objects.
func jqData() string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("[\n")
	for i := range 150_000 {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"id":%d,"team":"team-%d","tags":["t%d","t%d"],"values":[%d,%d,%d,%d]}`, i, r.IntN(500), r.IntN(50), r.IntN(50), r.IntN(1000), r.IntN(1000), r.IntN(1000), r.IntN(1000))
	}
	b.WriteString("\n]\n")
	return b.String()
}

// starlarkScript keeps a dictionary whose entries it replaces at random.
const starlarkScript = `
def main():
    cache = {}
    x = 12345
    hits = 0
    for i in range(3000000):
        x = (x * 1103515245 + 12345) % 2147483648
        key = x % 150000
        entry = cache.get(key)
        if entry != None and i % 3 != 0:
            hits += len(entry)
        else:
            cache[key] = [i, "value of %d" % i, {"n": x}]
    print(len(cache), hits)

main()
`

// jsonnetText builds, joins and folds objects.
const jsonnetText = `
local make(i) = { id: i, name: 'object %d' % i, even: i % 2 == 0, parts: [ { k: 'part %d' % j, v: i * j } for j in std.range(0, 9) ] };
local objects = [ make(i) { extra: self.name + '!' } for i in std.range(0, 5999) ];
{
  total: std.foldl(function(a, o) a + std.foldl(function(b, p) b + p.v, o.parts, 0), objects, 0),
  byParity: { [k]: [ o { parts:: null } for o in objects if o.even == (k == 'even') ] for k in ['even', 'odd'] },
  names: std.sort([ o.extra for o in objects ]),
}
`

// talk is a presentation of a hundred slides.
func talk() string {
	var b strings.Builder
	b.WriteString("# A talk\nOf many slides\n\nSomeone\n\n")
	for i := range 100 {
		fmt.Fprintf(&b, "## Slide %d\n\nSome *words* with `code` and a [link](https://example.com/%d).\n\n- one\n- two\n- three\n\n\tfunc f%d() int {\n\t\treturn %d\n\t}\n\n", i, i, i, i)
	}
	return b.String()
}

// luaScript keeps a table of tables, replaces entries at random, and builds
// strings beside it.
const luaScript = `
local t, x = {}, 42
for i = 1, 120000 do t[i] = { id = i, name = "entry " .. i } end
local sum = 0
for i = 1, 4000000 do
  x = (x * 1103515245 + 12345) % 2147483648
  local k = x % 120000 + 1
  if i % 4 == 0 then t[k] = { id = i, name = "entry " .. i, tags = { "a", "b" } } else sum = sum + #t[k].name end
end
print(sum)
`

// godocLoad asks for the documentation of packages of the standard library in
// turn.
const godocLoad = `local n = 0
local packages = {'sort', 'strings', 'bufio', 'errors', 'io', 'path', 'context', 'bytes', 'sync', 'container/list', 'encoding/csv', 'hash/crc32'}
request = function()
  n = n + 1
  return wrk.format('GET', '/pkg/' .. packages[n % 12 + 1] .. '/')
end
`

// gojaScript keeps a graph of objects, replaces nodes at random, and walks it.
const gojaScript = `
var nodes = [], x = 7;
function next(n) { x = (x * 16807) % 2147483647; return x % n; }
for (var i = 0; i < 60000; i++) nodes.push({ id: i, name: "node " + i, edges: [] });
var sum = 0;
for (var i = 0; i < 400000; i++) {
  var n = nodes[next(60000)];
  if (i % 5 == 0) {
    nodes[n.id] = { id: n.id, name: "node " + i, edges: [next(60000), next(60000)] };
  } else {
    sum += n.edges.map(function (e) { return nodes[e].name.length; }).reduce(function (a, b) { return a + b; }, 0);
  }
}
console.log(sum);
`

// yaegiProgram counts words and keeps the lines that hold them.
const yaegiProgram = `package main

import (
	"fmt"
	"sort"
	"strings"
)

type line struct {
	n     int
	words []string
}

func main() {
	index := map[string][]*line{}
	x := 11
	for i := 0; i < 250000; i++ {
		var words []string
		for j := 0; j < 6; j++ {
			x = (x*1103515245 + 12345) & 0x7fffffff
			words = append(words, fmt.Sprintf("word%d", x>>8%5000))
		}
		l := &line{i, strings.Fields(strings.Join(words, " "))}
		for _, w := range l.words {
			kept := append(index[w], l)
			if len(kept) > 12 {
				kept = append([]*line(nil), kept[6:]...)
			}
			index[w] = kept
		}
	}
	var all []string
	for w := range index {
		all = append(all, w)
	}
	sort.Strings(all)
	fmt.Println(len(all), len(index[all[0]]))
}
`

// cueText unifies services with a schema and sums them up.
const cueText = `import ("list", "strings")

#Service: {
	name:     string & =~"^svc-"
	replicas: int & >0 & <100
	ports: [...{port: int & >1024, name: string}]
	labels: [string]: string
	labels: app: name
}

services: [for i in list.Range(0, 2500, 1) {#Service & {
	name:     "svc-\(i)"
	replicas: mod(i, 9) + 1
	ports: [for p in list.Range(0, 3, 1) {port: 2000 + i + p, name: "p\(p)"}]
	labels: team: "team-\(mod(i, 20))"
}}]

names: strings.Join([for s in services {s.name}], ",")
total: list.Sum([for s in services {s.replicas}])
`

// shellScript is a script of 100,000 functions.
func shellScript() string {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "f%d () {\n  local x=$(( %d+1 ));  if [ \"$x\" -gt 3 ];then echo \"value ${x}\" | sed -e 's/a/b/g' > /dev/null;fi\n}\n", i, i)
	}
	return b.String()
}
