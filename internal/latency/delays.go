package latency

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

// delays is the time that threads waited for a processor of the system. The recorder writes
// the contents of /proc/self/task/*/schedstat into messages of the trace:
//
//	heaptrim.delays FROM TO THREAD:RAN:WAITED …
//
// FROM and TO are the times between which the recorder read it, in nanoseconds since its
// start; RAN and WAITED are the thread's total times of running and of waiting to run.
// Threads without a change are omitted.
type delays struct {
	known   bool
	began   moment // when the recorder began, on the trace's clock
	threads map[int64]*threadDelays
}

type threadDelays struct {
	samples []delaySample // of this generation and the one before, in order
	old     int           // number of those from the one before
}

// delaySample is the total running and waiting time of a thread, read between two moments
// since the recorder's start.
type delaySample struct{ from, to, ran, waited time.Duration }

const delaysPrefix = "heaptrim.delays "

// read processes the messages of a generation.
func (d *delays) read(texts iter.Seq[string]) {
	for _, t := range d.threads {
		t.samples = slices.Delete(t.samples, 0, t.old)
		t.old = len(t.samples)
	}
	for text := range texts {
		from, to, rest, ok := parseDelays(text)
		for field := range strings.FieldsSeq(rest) {
			thread, s, good := parseDelay(field)
			if !ok || !good {
				continue
			}
			t := d.threads[thread]
			if t == nil {
				t = &threadDelays{}
				d.threads[thread] = t
			}
			s.from, s.to = from, to
			t.samples = append(t.samples, s)
		}
	}
	for _, t := range d.threads {
		slices.SortFunc(t.samples, func(a, b delaySample) int { return cmp.Compare(a.from, b.from) })
	}
}

func parseDelays(text string) (from, to time.Duration, rest string, ok bool) {
	text, ok = strings.CutPrefix(text, delaysPrefix)
	if !ok {
		return 0, 0, "", false
	}
	first, text, _ := strings.Cut(text, " ")
	last, rest, _ := strings.Cut(text, " ")
	f, err1 := strconv.ParseUint(first, 10, 62)
	t, err2 := strconv.ParseUint(last, 10, 62)
	return time.Duration(f), time.Duration(t), rest, err1 == nil && err2 == nil && f <= t
}

func parseDelay(field string) (thread int64, s delaySample, ok bool) {
	parts := strings.Split(field, ":")
	if len(parts) != 3 {
		return 0, s, false
	}
	thread, err1 := strconv.ParseInt(parts[0], 10, 64)
	ran, err2 := strconv.ParseUint(parts[1], 10, 62)
	waited, err3 := strconv.ParseUint(parts[2], 10, 62)
	s.ran, s.waited = time.Duration(ran), time.Duration(waited)
	return thread, s, err1 == nil && err2 == nil && err3 == nil
}

// see processes the time of a message. The message with the shortest delay between
// reading its clock and writing gives the best estimate of the recorder's start.
func (d *delays) see(at moment, text string) {
	_, to, _, ok := parseDelays(text)
	if !ok {
		return
	}
	if began := at - moment(to); !d.known || began < d.began {
		d.known, d.began = true, began
	}
}

// waited returns a lower bound of the time between two moments in which a thread had
// something to run but did not run. Between two samples it cannot have run longer than
// the system reports. For short times nothing is known, and the result is 0. Waits
// after a thread was woken are not counted, because nothing ran on it then.
func (d *delays) waited(thread int64, from, to moment) time.Duration {
	t := d.threads[thread]
	if !d.known || t == nil {
		return 0
	}
	a, b := from.Sub(d.began), to.Sub(d.began)
	first, _ := slices.BinarySearchFunc(t.samples, a, func(s delaySample, a time.Duration) int { return cmp.Compare(s.from, a) })
	var sum time.Duration
	for i := max(first, 1); i < len(t.samples) && t.samples[i-1].to < b; i++ {
		last, s := t.samples[i-1], t.samples[i]
		overlap := min(b, s.from) - max(a, last.to)
		ran, waited := s.ran-last.ran, s.waited-last.waited
		if ran >= 0 {
			sum += max(0, min(overlap-ran, waited))
		}
	}
	return sum
}

// log processes a message of the program.
func (a *account) log(ev *exectrace.Event, n *exectrace.Names) {
	a.delays.see(moment(ev.Time), n.Text(exectrace.Text(ev.Value)))
}
