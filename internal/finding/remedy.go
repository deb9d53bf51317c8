package finding

import "github.com/heaptrim/heaptrim/internal/stats"

// Prescription names the cure of each finding, and what is advised on the
// program as a whole.
type Prescription struct {
	Rows     []Row      // highest saving first
	Below    int        // findings left out because neither cost nor saving reaches Threshold
	Advice   []Advice   // from the diagnosis as a whole
	Together Prediction // the saving of all rows' cures at once; zero when no row has a cut
	// Threshold is the share of CPU or of bytes below which findings were left
	// out, from 0 to 1; 0 says that all are there.
	Threshold float64
	Warnings  []string
}

// Row is a finding with its cure.
type Row struct {
	*Finding
	Rank   int // from 1; 0 for a row that is not ranked
	Remedy Remedy
	Others []Remedy // further cures that fit, best first
	Cut    *Cut     // what the remedy takes away; nil when there is none or it is no cut of this site
}

// Unranked is the row of a finding for which no cure is looked for: what it
// would save is what goes without the site.
func Unranked(f *Finding) Row {
	r := Row{Finding: f}
	if f.Removal != nil {
		r.Remedy.Saves = *f.Removal
	}
	return r
}

// Remedy names the cure of a finding. The zero Remedy names none.
type Remedy struct {
	Code   string
	Safety string  // "safe", "review" or "advice"
	Text   string  // what to do here, in one or two sentences
	Why    string  // the evidence for this choice
	Fit    float64 // how surely the evidence points at this cure, from 0 to 1
	Saves  Prediction
	Life   Life // what becomes of the objects, of the heaviest part of what the site allocates
}

// Prediction is what a change would save.
type Prediction struct {
	CPU stats.Interval // share of CPU
	// of it, what fresh memory and collections cost the program's own code: through the caches, and in
	// page faults; zero when not known
	Caches       stats.Interval
	BytesPerOp   stats.Interval // exact where every allocation was recorded and the remedy takes all of them away
	ObjectsPerOp stats.Interval
	Cycles       stats.Interval // share of the collection cycles; zero when not known
	Basis        string
}

// Cut is what a change takes away from one finding, as shares of what its site
// allocates now, from 0 to 1.
type Cut struct {
	Finding *Finding
	Objects float64 // share of the objects
	Bytes   float64 // share of the bytes allocated, zeroed and copied
	Live    float64 // share of the bytes in use; negative when more stays alive
	// Added is CPU time in seconds that the change spends on each object that
	// it takes away, such as a pool's Get and Put.
	Added stats.Interval
}

// Advice is a remedy for the program as a whole, with the measured amounts
// behind it.
type Advice struct {
	Remedy Remedy
	Title  string
}

// RuleHit is what a rule for source says of a line that the profile finds hot.
type RuleHit struct {
	Code    string
	Message string
	Cost    LineCost // of the hottest line that the rule speaks of
}

// Detection is a way in which the collector or the kernel costs one run more
// than it needs, beside what single lines allocate.
type Detection struct {
	Detector string // its name
	Run      string
	Title    string
	Code     string         // of the cure in the catalogue
	Text     string         // what to do
	Evidence string         // with the measured amounts
	Amount   float64        // what it costs or takes, as a share, in the run where that is most
	Saves    stats.Interval // share of CPU; zero where no formula gives it
	Basis    string         // of Saves
}
