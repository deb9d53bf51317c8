package lexer

import (
	"sync"
	"testing"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
)

// The benchmark function is called several times with growing b.N; the data
// is built once.
var world = sync.OnceValue(New)

func BenchmarkWork(b *testing.B) { drive.Bench(b, world().Worker) }

func TestChecksum(t *testing.T) { drive.Checksum(t, 500, world().Worker(0)) }
