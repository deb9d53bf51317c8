package browser

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// recordings are the three real ones that the views are clicked through on:
// benchmarks, a command under its own load, and files that somebody made with
// go test.
var recordings = []string{"benchmarks", "service", "files"}

var recordOnce = map[string]*sync.Once{"benchmarks": {}, "service": {}, "files": {}}

// bundleOf records what a name stands for and returns the bundle.
func bundleOf(t testing.TB, name string) string {
	t.Helper()
	run := tool(t)
	dir := built.dir
	if *keep != "" {
		dir = *keep
	}
	bundle := filepath.Join(dir, name+".tar.zst")
	recordOnce[name].Do(func() {
		if _, err := os.Stat(bundle); err == nil {
			return
		}
		switch name {
		case "benchmarks":
			run("record", "-o", bundle, "-bench", "Order", "-benchtime", "300ms", "./examples/gateway")
		case "service":
			run("record", "-o", bundle, "-exec", "./examples/gateway/cmd/gateway", "-for", "3s", "-trace", "1s", "--", "-demo", "-addr", "127.0.0.1:0")
		case "files":
			cpu, allocs := filepath.Join(dir, "cpu.pprof"), filepath.Join(dir, "allocs.pprof")
			// An amount of work, not of time: on a busy machine time brings no samples.
			cmd := exec.Command("go", "test", "-run", "xxx", "-bench", "Order$", "-benchtime", "5000x", "-o", filepath.Join(dir, "gateway.test"),
				"-cpuprofile", cpu, "-memprofile", allocs, "-memprofilerate", "4096", "./examples/gateway")
			cmd.Dir = root(t)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("go test: %v\n%s", err, out)
			}
			// The page counts samples at this frame for the function that was stopped.
			cmd = exec.Command("go", "tool", "pprof", "-proto", "-hide=^runtime\\.asyncPreempt$", "-output", cpu+".folded", cpu)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("go tool pprof: %v\n%s", err, out)
			}
			if err := os.Rename(cpu+".folded", cpu); err != nil {
				t.Fatal(err)
			}
			run("record", "-o", bundle, cpu, allocs)
		}
	})
	if _, err := os.Stat(bundle); err != nil {
		t.Fatal(err)
	}
	return bundle
}

// page is an HTML file of heaptrim with the data in it.
type page struct {
	file string
	url  string
	data data
}

// data is the part of the page's data that the tests check.
type data struct {
	Report struct {
		Totals struct {
			MemoryShare *interval `json:"memory_share"`
			Why         string    `json:"why"`
		} `json:"totals"`
		Decomposition []struct {
			Name     string    `json:"name"`
			CPUShare *interval `json:"cpu_share"`
			Charged  bool      `json:"charged"`
		} `json:"decomposition"`
		Groups []struct {
			Name     string
			CPUShare struct{ Value float64 } `json:"cpu_share"`
		} `json:"groups"`
		Findings []struct {
			Rank   int  `json:"rank"`
			Site   site `json:"site"`
			Places []struct {
				site
				Share float64 `json:"share"`
			} `json:"places"`
			Title  string `json:"title"`
			Remedy struct {
				Code string `json:"code"`
				Text string `json:"text"`
			} `json:"remedy"`
			Prediction struct {
				CPUShare *interval `json:"cpu_share"`
			} `json:"prediction"`
		} `json:"findings"`
		Below     int `json:"below_threshold"`
		Functions []struct {
			Ranks      []int `json:"ranks"`
			Prediction struct {
				CPUShare struct{ Value, Low, High float64 } `json:"cpu_share"`
			} `json:"prediction"`
		} `json:"functions"`
		Together struct {
			CPUShare *interval `json:"cpu_share"`
		} `json:"together"`
		TogetherOf int `json:"together_of"`
	} `json:"report"`
	Views struct {
		Flame *struct {
			Parent  []int `json:"parent"`
			Buckets []struct {
				Name      string `json:"name"`
				Collector bool   `json:"collector"`
				Idle      bool   `json:"idle"`
			} `json:"buckets"`
			Weights []struct {
				Name string    `json:"name"`
				CPU  bool      `json:"cpu"`
				Base bool      `json:"base"`
				Set  int       `json:"set"`
				At   []int     `json:"at"`
				V    []float64 `json:"v"`
			} `json:"weights"`
			Frame  []int `json:"frame"`
			Frames struct {
				Function []int `json:"function"`
				File     []int `json:"file"`
				Line     []int `json:"line"`
				Place    []int `json:"place"`
			} `json:"frames"`
			Files     []string `json:"files"`
			Functions struct {
				Name  []string `json:"name"`
				Owner []string `json:"owner"`
			} `json:"functions"`
			Runs []struct {
				Name           string  `json:"name"`
				CollectorError float64 `json:"collector_error"`
			} `json:"runs"`
			Labels *struct {
				Keys []string `json:"keys"`
				Sets [][]struct {
					Key  int      `json:"key"`
					Text string   `json:"text"`
					High *float64 `json:"high"`
				} `json:"sets"`
			} `json:"labels"`
		} `json:"flame"`
		Code *struct {
			Texts     []string `json:"texts"`
			Missing   []string `json:"missing"`
			Left      int      `json:"left"`
			Functions []struct {
				Name  string   `json:"name"`
				First string   `json:"first"`
				Step  []uint64 `json:"step"`
				Code  []struct {
					First string   `json:"first"`
					Step  []uint64 `json:"step"`
					Text  []int    `json:"text"`
					At    []int    `json:"at"`
				} `json:"code"`
			} `json:"functions"`
		} `json:"code"`
		Time []struct {
			Metrics struct {
				RSS []float64 `json:"rss"`
			} `json:"metrics"`
		} `json:"time"`
		WhatIf []struct {
			Run     string  `json:"run"`
			GOGC    int     `json:"gogc"`
			NonHeap float64 `json:"non_heap"`
		} `json:"whatif"`
		Source    []struct{ File string } `json:"source"`
		SourceCut int                     `json:"source_cut"`
		Latency   *struct {
			Payers struct {
				Groups []struct {
					Start   string `json:"start"`
					Handler string `json:"handler"`
				} `json:"groups"`
			} `json:"payers"`
		} `json:"latency"`
		Plan *struct {
			Measured struct {
				RSS float64 `json:"peak_rss_bytes"`
			} `json:"measured"`
			Recommended struct {
				Refused string `json:"refused"`
				Point   *struct {
					Setting struct {
						Text string `json:"text"`
					} `json:"setting"`
				} `json:"point"`
			} `json:"recommended"`
		} `json:"plan"`
		Proof *struct {
			Verdict struct {
				Sentence string `json:"sentence"`
			} `json:"verdict"`
			Comparisons []struct {
				Name    string `json:"name"`
				Changes []struct {
					Label  string `json:"label"`
					Change *struct {
						Value float64 `json:"value"`
					} `json:"change"`
				} `json:"changes"`
			} `json:"comparisons"`
		} `json:"proof"`
	} `json:"views"`
}

type interval struct{ Value, Low, High float64 }

// pageOf writes the page of a recording.
func pageOf(t testing.TB, bundle string, flags ...string) page {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	tool(t)(append(append([]string{"view", "-html", file}, flags...), bundle)...)
	return readPage(t, file)
}

// pageOfFiles writes the page of a diagnosis of files, with all lines that cost anything.
func pageOfFiles(t testing.TB, files ...string) page {
	t.Helper()
	html := filepath.Join(t.TempDir(), "page.html")
	tool(t)(append([]string{"check", "-threshold", "0", "-html", html}, files...)...)
	return readPage(t, html)
}

func readPage(t testing.TB, file string) page {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("%s: no data", file)
	}
	p := page{file: file, url: "file://" + filepath.ToSlash(file)}
	if err := json.Unmarshal(m[1], &p.data); err != nil {
		t.Fatal(err)
	}
	return p
}

// number finds the first number of a text.
func number(text string) string {
	return regexp.MustCompile(`-?\d+(\.\d+)?`).FindString(strings.ReplaceAll(text, ",", ""))
}

type site struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}
