package finding

import (
	"cmp"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// Prescription names the cure of each finding, and the advice for the program as a
// whole.
type Prescription struct {
	Rows     []Row      // highest saving first
	Below    int        // findings left out because neither cost nor saving reaches Threshold
	Advice   []Advice   // on the diagnosis as a whole
	Together Prediction // the saving of all rows' cures together; zero if no row has a cut
	// Threshold is the share of CPU or of bytes below which findings are left out, from 0
	// to 1; 0 means that none are.
	Threshold float64
	// Functions has what all cures of a function save together, for functions with several rows.
	Functions map[string]Prediction
	Warnings  []string
}

// DefaultThreshold is the least cost or saving that gets a row of the report: one per cent of CPU or of the bytes
// allocated.
const DefaultThreshold = 0.01

// Row is a finding with its cure.
type Row struct {
	*Finding
	Rank   int // from 1; 0 for an unranked row
	Remedy Remedy
	Others []Remedy // further cures that fit, best first
	Cuts   []Cut    // what the remedy removes of each site; none if there is no remedy, or it reduces no site
}

// BytesCut is the share of the row's bytes that its remedy removes, from 0 to 1.
func (r Row) BytesCut() float64 {
	sum := 0.0
	for _, c := range r.Cuts {
		sum += c.Bytes * c.Finding.Cost.amount()
	}
	if all := r.Cost.amount(); all > 0 {
		return min(sum/all, 1)
	}
	return 0
}

// amount is the bytes in the first unit that is known.
func (c Cost) amount() float64 {
	return cmp.Or(c.Bytes.Value, c.BytesPerOp.Value, c.BytesPerSecond.Value)
}

// Unranked returns the row of a finding for which no cure is sought.
func Unranked(f *Finding) Row { return Row{Finding: f} }

// Remedy is the cure of a finding. The zero Remedy means none.
type Remedy struct {
	Code   string
	Safety string  // "safe", "review" or "advice"
	Text   string  // what to do here, in one or two sentences
	Why    string  // the evidence for this choice
	Rule   string  // name of the rule that proposes it; empty for an edit that only a trial knows
	Fit    float64 // how often the rule is right, from 0 to 1
	Saves  Prediction
	Trial  *Trial // an edit that was tried and holds; nil if none was
	Life   Life   // what becomes of the objects, of the heaviest part of what the site allocates
}

// Prediction is the saving of a change.
type Prediction struct {
	CPU stats.Interval // share of CPU
	// part of CPU: cost of fresh memory and collections in the program's own code, through
	// cache misses and page faults; zero if unknown
	Caches       stats.Interval
	BytesPerOp   stats.Interval // exact if every allocation was recorded and the remedy removes all of them
	ObjectsPerOp stats.Interval
	Cycles       stats.Interval // share of collection cycles; zero if unknown
	Basis        string
}

// Cut is what a change removes from one finding, as shares of what its site allocates
// now, from 0 to 1.
type Cut struct {
	Finding *Finding
	Objects float64 // share of the objects
	Bytes   float64 // share of the bytes allocated, zeroed and copied
	Live    float64 // share of the bytes in use; negative if more stays alive
	// Added is the CPU time in seconds that the change adds for each object it removes,
	// such as a pool's Get and Put.
	Added stats.Interval
}

// Advice is a remedy for the program as a whole, with the measured amounts as
// evidence.
type Advice struct {
	Remedy Remedy
	Title  string
}

// RuleHit is a source rule's finding on a line that is hot in the profile.
type RuleHit struct {
	Code    string
	Message string
	Cost    LineCost // of the hottest line that the rule reports
}

// Detection is an avoidable cost of the collector or the kernel in one run that does
// not belong to single lines.
type Detection struct {
	Detector string // its name
	Run      string
	Title    string
	Code     string         // of the cure in the catalogue
	Text     string         // what to do
	Evidence string         // with the measured amounts
	Amount   float64        // its cost or use as a share, in the run where that is largest
	Saves    stats.Interval // share of CPU; zero if no formula gives it
	Basis    string         // of Saves
}
