package latency

import (
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

// TestClassify uses stacks from profiles of Go 1.25 to 1.27, leaf first.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		stack, site string
		does        work
	}{
		{"runtime.memclrNoHeapPointers runtime.mallocgcSmallScanNoHeader runtime.mallocgc runtime.newobject main.fill main.main runtime.main", "main.fill", allocating},
		{"runtime.mallocgcSmallScanNoHeaderSC4 runtime.newobject main.fill", "main.fill", allocating},
		{"runtime.memmove runtime.growslice strings.(*Builder).WriteString main.text", "main.text", allocating},
		{"runtime.nextFreeFast runtime.mallocgc runtime.newarray internal/runtime/maps.newarray internal/runtime/maps.(*table).grow runtime.mapassign_faststr main.index", "main.index", allocating},
		{"internal/runtime/maps.ctrlGroup.matchH2 runtime.mapassign_faststr main.index", "main.index", elsewhere},
		{"memeqbody runtime.mapaccess1_faststr main.index", "main.index", elsewhere},
		{"runtime.mallocgc reflect.unsafe_New reflect.New encoding/json.indirect", "reflect.New", allocating},
		{"runtime.mallocgc reflect.unsafe_New reflect.New encoding/json.indirect gopkg.in/yaml%2ev3.load own.example/app/web.(*Page[...]).Show main.main", "own.example/app/web.(*Page[...]).Show", allocating},
		{"runtime.mallocgc runtime.newobject gopkg.in/yaml%2ev3.load net/http.(*conn).serve", "gopkg.in/yaml%2ev3.load", allocating},
		{"runtime.mallocgc runtime.newobject own.example/application.F net/http.(*conn).serve own.example/app.Main", "own.example/app.Main", allocating},
		{"runtime.mallocgc runtime.makeslice internal/bytealg.MakeNoZero strings.(*Builder).grow", "strings.(*Builder).grow", allocating},
		{"runtime.gcDrainN runtime.gcAssistAlloc1 runtime.gcAssistAlloc.func2 runtime.systemstack runtime.gcAssistAlloc runtime.deductAssistCredit runtime.mallocgc main.fill", "main.fill", paying},
		{"runtime.(*sweepLocked).sweep runtime.(*mcentral).cacheSpan runtime.(*mcache).refill runtime.mallocgc main.fill", "main.fill", paying},
		{"runtime.gcStart runtime.mallocgcLarge runtime.mallocgc main.fill", "main.fill", paying},
		{"runtime.gcStart runtime.GC main.collect", "main.collect", elsewhere},
		{"runtime.(*mspan).sweep runtime.sweepone runtime.bgsweep", "", elsewhere},
		{"runtime.mallocgc runtime.newobject runtime.acquireSudog runtime.main", "", allocating},
		{"main.compute runtime.mallocgc", "main.compute", elsewhere},
		{"", "", elsewhere},
	} {
		var frames []exectrace.Frame
		for i, name := range strings.Fields(c.stack) {
			frames = append(frames, exectrace.Frame{PC: uint64(i + 1), Func: name, File: "f.go", Line: i + 1})
		}
		f, does := classify(slices.Values(frames), boundary{"own.example/app"})
		if f.Func != c.site || does != c.does {
			t.Errorf("%s: got %q, %v, want %q, %v", c.stack, f.Func, does, c.site, c.does)
		}
	}
}
