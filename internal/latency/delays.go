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

// delays says how long threads were kept from a processor by the system. The
// recorder notes in messages of the trace what /proc/self/task/*/schedstat
// shows:
//
//	heaptrim.delays FROM TO THREAD:RAN:WAITED …
//
// FROM and TO are between what times the recorder looked, in nanoseconds since
// it began; RAN and WAITED are what the thread has run and waited to run in
// all. Threads without a change are left out.
type delays struct {
	known   bool
	began   moment // the recorder; its clock is the trace's
	threads map[int64]*threadDelays
}

type threadDelays struct {
	samples []delaySample // of this generation and the one before, by time
	old     int           // how many are of the one before
}

// delaySample is what a thread had run and waited some time between two moments,
// which are since the recorder began.
type delaySample struct{ from, to, ran, waited time.Duration }

const delaysPrefix = "heaptrim.delays "

// read takes over the messages of a generation.
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

// see hears when a message was written. Of all the one that was written
// soonest after its clock was looked at says best when the recorder began.
func (d *delays) see(at moment, text string) {
	_, to, _, ok := parseDelays(text)
	if !ok {
		return
	}
	if began := at - moment(to); !d.known || began < d.began {
		d.known, d.began = true, began
	}
}

// waited is how long of the time from one moment to another, at least, a thread
// that had something to run did not: between two samples it cannot have run for
// longer than the system says, whatever else it ran then. What a short time was
// spent with is not known by that, and 0 is returned. Waits when a thread was
// woken are not counted, since nothing ran on it then.
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

// log looks at a message of the program's.
func (a *account) log(ev *exectrace.Event, n *exectrace.Names) {
	a.delays.see(moment(ev.Time), n.Text(exectrace.Text(ev.Value)))
}
