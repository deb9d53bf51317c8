package ballast_test

import (
	"fmt"
	"log/slog"
	"runtime"

	"github.com/heaptrim/heaptrim/rt/ballast"
)

// In a container: use its memory, whatever the program needs at the moment.
func Example() {
	tuner, err := ballast.Set(ballast.Options{Logger: slog.Default()})
	if err != nil {
		slog.Error("memory settings left as they are", "err", err)
	} else {
		defer tuner.Stop()
	}
	// … the program …
}

// The amount of memory is known: a gigabyte above what is alive.
func ExampleSet() {
	tuner, err := ballast.Set(ballast.Options{Mode: ballast.Steer, Headroom: 1 << 30})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tuner.Stop()
	runtime.GC()
	s := tuner.Stats()
	fmt.Println(s.Status, (s.HeapGoal-s.LiveHeap)>>20, "MiB")
	// Output: steering 1024 MiB
}

func ExampleParse() {
	o, err := ballast.Parse("steer=2GiB,max=3GiB")
	fmt.Println(o.Mode, o.Headroom, o.MaxMemory, err)
	_, err = ballast.Parse("steer=2GB")
	fmt.Println(err)
	// Output:
	// steer 2147483648 3221225472 <nil>
	// ballast: "steer=2GB" in "steer=2GB": "GB" is not a unit: want B, KiB, MiB, GiB or TiB
}
