package latency

import (
	"slices"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

func TestWaited(t *testing.T) {
	d := delays{threads: map[int64]*threadDelays{}}
	texts := []string{
		"heaptrim.delays 3000 3010 7:1600:1300 8:40:0",
		"heaptrim.delays 990 1000 7:1000:0 8:10:0",
		"heaptrim.delays 2000 2000 7:1500:500",
		"heaptrim.delays 2500 2600 7:1:1:1 x:1:1 9", "heaptrim.delays -4 5 7:1:1", "heaptrim.delays 9 8 7:1:1", "heaptrim.delays", "another message 4 7:1:1",
	}
	d.read(slices.Values(texts))
	f := func(thread int64, from, to moment, want time.Duration) {
		t.Helper()
		if got := d.waited(thread, from, to); got != want {
			t.Errorf("thread %d from %d to %d: got %d waited, want %d", thread, from, to, got, want)
		}
	}
	f(7, 11_000, 12_000, 0) // the recorder's start is not yet known
	d.see(10_090, texts[2]) // written late
	d.see(11_000, texts[1])
	d.see(13_050, texts[0])
	if !d.known || d.began != 8_090 {
		t.Fatalf("began at %d, want the earliest of what messages say", d.began)
	}
	d.began = 10_000
	f(7, 11_000, 12_000, 500) // it ran 500 of 1000
	f(7, 11_000, 11_600, 100) // it may have run 500 of these 600
	f(7, 11_000, 11_500, 0)
	f(7, 11_500, 13_000, 800) // then 100; it cannot have waited for more than 800
	f(7, 12_000, 12_300, 200)
	f(7, 10_000, 11_000, 0) // before the samples
	f(7, 12_900, 20_000, 0) // after the samples
	f(7, 12_000, 12_000, 0)
	f(8, 11_000, 13_000, 0) // never waited
	f(9, 11_000, 13_000, 0)
	d.read(slices.Values([]string{"heaptrim.delays 4000 4000 7:1700:2200"}))
	f(7, 12_000, 14_000, 800+890) // without the time between two samples
	d.read(slices.Values([]string(nil)))
	f(7, 12_000, 14_000, 0) // two generations later
}

// TestDelaysOfRunning has a goroutine on a thread that has to wait, and then on a
// thread without samples.
func TestDelaysOfRunning(t *testing.T) {
	a := account{
		delays: delays{known: true, threads: map[int64]*threadDelays{
			5: {samples: []delaySample{{0, 0, 0, 0}, {1000, 1000, 150, 750}}},
		}},
	}
	n := &exectrace.Names{}
	at := func(time int64, from, to exectrace.State, thread int64) {
		a.event(&exectrace.Event{Time: time, Kind: exectrace.EventGoroutine, Subject: 1, Thread: thread, From: from, To: to}, n)
	}
	at(100, exectrace.Waiting, exectrace.Runnable, 9)
	at(200, exectrace.Runnable, exectrace.Running, 5)
	at(600, exectrace.Running, exectrace.Runnable, 5)
	at(700, exectrace.Runnable, exectrace.Running, 6)
	at(800, exectrace.Running, exectrace.Waiting, 6)
	want := Split{Running: 150 + 100, Descheduled: 250, WaitOutside: 200}
	if got := a.goroutines.Find(1).spent; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
