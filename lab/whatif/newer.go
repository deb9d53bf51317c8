//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
)

// newer are programs that were fixed, with their input and load, before any row
// of theirs was seen, after the fresh ones had been looked at.
func (m maker) newer() []program {
	return []program{
		{
			name: "openfga", module: "github.com/openfga/openfga@v1.22.1", pkg: "cmd/openfga", set: newer, files: map[string]string{"load.lua": fgaLoad},
			args: []string{"run", "--playground-enabled=false", "--metrics-enabled=false", "--log-level=error",
				"--grpc-addr=127.0.0.1:18281", "--http-addr=127.0.0.1:18280"},
			ready: "http://127.0.0.1:18280/healthz", load: m.wrk("http://127.0.0.1:18280/", "-s "+m.at("openfga", "load.lua")),
		},
		{
			name: "go-httpbin", module: "github.com/mccutchen/go-httpbin/v2@v2.26.0", pkg: "cmd/go-httpbin", set: newer, files: map[string]string{"load.lua": binLoad},
			args: []string{"-host", "127.0.0.1", "-port", "18082", "-log-level", "OFF"}, ready: "http://127.0.0.1:18082/status/200",
			load: m.wrk("http://127.0.0.1:18082/", "-s "+m.at("go-httpbin", "load.lua")),
		},
		{
			name: "stripe-mock", module: "github.com/stripe/stripe-mock@v0.203.0", set: newer, files: map[string]string{"load.lua": stripeLoad},
			args: []string{"-http-addr", "127.0.0.1:12111"}, ready: "http://127.0.0.1:12111/",
			load: m.wrk("http://127.0.0.1:12111/", "-s "+m.at("stripe-mock", "load.lua")),
		},
		{
			name: "node_exporter", module: "github.com/prometheus/node_exporter@v1.12.1", set: newer,
			args: []string{"--web.listen-address=127.0.0.1:19100", "--log.level=error"}, ready: "http://127.0.0.1:19100/",
			load: m.wrk("http://127.0.0.1:19100/metrics", ""),
		},
		{
			name: "minify", module: "github.com/tdewolff/minify/v2@v2.24.25", pkg: "cmd/minify", batch: true, set: newer,
			files:  map[string]string{"one.js": scriptText(), "one.html": htmlText(), "one.css": cssText()},
			prime:  "mkdir in && for i in $(seq 500); do cp one.js in/$i.js && cp one.html in/$i.html && cp one.css in/$i.css; done",
			args:   []string{"-q", "-r", "-o", m.at("minify", "out") + "/", m.at("minify", "in")},
			before: "rm -rf out",
		},
		{
			name: "bleve", module: "github.com/blevesearch/bleve/v2@v2.5.7", pkg: "cmd/bleve", batch: true, set: newer, files: map[string]string{"documents.json": documents()},
			args: []string{"bulk", m.at("bleve", "index"), m.at("bleve", "documents.json")}, before: "rm -rf index && ./bin create index",
		},
		{
			name: "misspell", module: "github.com/golangci/misspell@v0.8.0", pkg: "cmd/misspell", batch: true, set: newer,
			args: []string{"-q", filepath.Join(m.root, "src")},
		},
	}
}

// fgaLoad makes a store with a model and 2,000 tuples, and then asks whether a
// user may read a document, and in one request of fifty for all that he may. It
// asks twice for the store, since wrk makes one request of its own that it does
// not send.
const fgaLoad = `local store, model
local asked, sent, n = 0, 0, 0
local types = [[{"schema_version":"1.1","type_definitions":[{"type":"user"},
{"type":"team","relations":{"member":{"this":{}}},"metadata":{"relations":{"member":{"directly_related_user_types":[{"type":"user"},{"type":"team","relation":"member"}]}}}},
{"type":"doc","relations":{"owner":{"this":{}},"viewer":{"this":{}},"reader":{"union":{"child":[{"computedUserset":{"relation":"owner"}},{"computedUserset":{"relation":"viewer"}}]}}},
"metadata":{"relations":{"owner":{"directly_related_user_types":[{"type":"user"}]},"viewer":{"directly_related_user_types":[{"type":"user"},{"type":"team","relation":"member"}]}}}}]}]]
local json = {['Content-Type'] = 'application/json'}
local function post(path, body) return wrk.format('POST', path, json, body) end
local function tuple(user, relation, object)
  return string.format('{"user":"%s","relation":"%s","object":"%s"}', user, relation, object)
end
request = function()
  if not store or not model then
    if not store and asked < 2 then asked = asked + 1; return post('/stores', '{"name":"things"}') end
    if store and asked == 2 then asked = 3; return post('/stores/' .. store .. '/authorization-models', types) end
    return wrk.format('GET', '/healthz')
  end
  if sent < 40 then
    local t = {}
    for i = 1, 50 do
      local k = sent * 50 + i
      if k <= 500 then t[i] = tuple('user:u' .. k, 'member', 'team:t' .. k % 20)
      elseif k <= 1500 then t[i] = tuple('team:t' .. k % 20 .. '#member', 'viewer', 'doc:d' .. k)
      else t[i] = tuple('user:u' .. k % 500, 'owner', 'doc:d' .. k) end
    end
    sent = sent + 1
    return post('/stores/' .. store .. '/write', '{"writes":{"tuple_keys":[' .. table.concat(t, ',') .. ']}}')
  end
  n = n + 1
  local user = 'user:u' .. n * 7919 % 500 + 1
  if n % 50 == 0 then
    return post('/stores/' .. store .. '/list-objects', '{"type":"doc","relation":"reader","user":"' .. user .. '"}')
  end
  return post('/stores/' .. store .. '/check', '{"tuple_key":' .. tuple(user, 'reader', 'doc:d' .. 501 + n * 104729 % 1500) .. '}')
end
response = function(status, headers, body)
  if not store then store = body:match('"id":%s*"(%w+)"')
  elseif not model then model = body:match('"authorization_model_id":%s*"(%w+)"') end
end
`

// binLoad posts JSON of forty things and forms, and asks for pages of several
// kinds.
const binLoad = `local n = 0
local things = {}
for i = 1, 40 do things[i] = string.format('{"name":"thing %d","tags":["a","b%d"],"size":%d.5,"more":{"on":true,"text":"%s"}}', i, i % 7, i, string.rep('words ', 10)) end
local body = '{"things":[' .. table.concat(things, ',') .. ']}'
local form = 'name=value&words=' .. string.rep('some+words+', 100)
request = function()
  n = n + 1
  local k = n % 5
  if k < 2 then return wrk.format('POST', '/post?page=' .. n % 100, {['Content-Type'] = 'application/json'}, body) end
  if k == 2 then return wrk.format('POST', '/anything/form', {['Content-Type'] = 'application/x-www-form-urlencoded'}, form) end
  if k == 3 then return wrk.format('GET', '/links/60/' .. n % 60) end
  return wrk.format('GET', '/gzip')
end
`

// stripeLoad reads lists and single things, and makes payments.
const stripeLoad = `local n = 0
local key = {['Authorization'] = 'Bearer sk_test_123'}
local form = {['Authorization'] = 'Bearer sk_test_123', ['Content-Type'] = 'application/x-www-form-urlencoded'}
request = function()
  n = n + 1
  local k = n % 4
  if k == 0 then return wrk.format('GET', '/v1/charges?limit=3', key) end
  if k == 1 then return wrk.format('GET', '/v1/customers/cus_' .. n % 1000, key) end
  if k == 2 then return wrk.format('GET', '/v1/subscriptions/sub_' .. n % 1000 .. '?expand[]=customer', key) end
  return wrk.format('POST', '/v1/payment_intents', form, 'amount=' .. 100 + n % 9000 .. '&currency=usd')
end
`

// scriptText is JavaScript of 400 functions.
func scriptText() string {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "/* Function %d. */\nfunction compute%d(first, second, options) {\n  var total = 0, names = [\"a\", 'b%d'], unused;\n", i, i, i)
		fmt.Fprintf(&b, "  for (let index = 0; index < first.length; index++) {\n    const entry = first[index];\n    if (entry === undefined || entry.size > %d) { continue; } else { total += entry.size * second; }\n  }\n", i*7)
		fmt.Fprintf(&b, "  const format = (value) => `${value} of ${total}`;\n  try { names.push(format(total)); } catch (error) { console.log(error); }\n  return options && options.short ? { total: total, \"names\": names } : names.map(function (name) { return name + %d; });\n}\n\n", i)
	}
	return b.String()
}

// htmlText is a page with a table of 300 rows, styles and a script.
func htmlText() string {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html>\n<head>\n<title> A page </title>\n<style> body { margin: 0px 0px 0px 0px; color: #ff0000; } </style>\n</head>\n<body class=\"\">\n<table>\n")
	for i := range 300 {
		fmt.Fprintf(&b, "  <tr class=\"row\" id='r%d'>\n    <td style=\"color: rgb(0, 0, %d); padding: 0px\">  row %d </td>\n    <td> <a href=\"http://example.com/things/%d?a=1&amp;b=2\" target=\"_self\"> some   <b>words</b> </a> <!-- no %d --> </td>\n    <td onclick=\"javascript: show( %d ); return false;\"></td>\n  </tr>\n", i, i%256, i, i, i, i)
	}
	b.WriteString("</table>\n<script type=\"text/javascript\">\n  var page = { rows : 300 };\n  window.addEventListener('load', function () { console.log( page.rows ); });\n</script>\n</body>\n</html>\n")
	return b.String()
}

// cssText is a style sheet of 500 rules.
func cssText() string {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, ".box-%d > a:hover, #part-%d [type=\"text\"] {\n  margin: 0px %d.50px 0px 10px;\n  background-color: #ffeedd;\n  font-family: \"Some Font\", Arial, sans-serif;\n  transition: all 0.30s ease-in-out;\n}\n", i, i, i%20)
		if i%10 == 0 {
			fmt.Fprintf(&b, "@media screen and (max-width: %dpx) { .box-%d { display: none; color: rgba(255, 0, 0, 1.0); } }\n", 400+i, i)
		}
	}
	return b.String()
}

// documents are 20,000 lines of JSON, with some eighty of 8,000 words each, the
// first of which are the more frequent.
func documents() string {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string { return fmt.Sprintf("w%x", int(8_000*r.Float64()*r.Float64())*2654435761%1_000_003) }
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, `{"title":"%s %s %s","number":%d,"kind":"k%d","day":"2024-%02d-%02dT00:00:00Z","text":"`, word(), word(), word(), i, i%17, i%12+1, i%28+1)
		for range 80 {
			b.WriteString(word())
			b.WriteByte(' ')
		}
		b.WriteString("\"}\n")
	}
	return b.String()
}
