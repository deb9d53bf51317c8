package gcmodel

import (
	"fmt"
	"math"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// CycleFit is a straight line through the cycles of a recording: processor
// time of a cycle = Fixed + PerByte × scan work.
type CycleFit struct {
	Cycles  int           // cycles that went into the fit
	Mean    time.Duration // mean processor time of a cycle, idle marking included
	Fixed   time.Duration // part that does not grow with scan work
	PerByte float64       // nanoseconds per byte of scan work

	// FixedShare is Fixed ÷ Mean, 0 to 1. When Reason is not empty the
	// evidence cannot tell the parts apart: Fixed and FixedShare are then 0,
	// and FixedShare's bounds say what is not excluded.
	FixedShare stats.Interval
	Reason     string
}

// Limits below which a fit says nothing; a share known to ± a quarter still
// moves the retention of a site by less than the other errors of the model.
const (
	minFitCycles = 8
	minFitSpread = 0.05 // standard deviation of scan work ÷ its mean
	maxHalfWidth = 0.25
)

// Fit separates the cost of a cycle into a fixed part and one that grows with
// scan work, by least squares with both parts kept from being negative. Forced
// cycles are left out, and so are those without exact scan work, that is,
// without gcpacertrace. Idle marking counts as cost here, because workers that
// run on idle processors do the same work, and how much of it varies by chance.
func Fit(cycles []evidence.Cycle) CycleFit {
	l := lineOf(cycles)
	f := CycleFit{Cycles: int(l.n)}
	if l.n < minFitCycles {
		return f.undecided(fmt.Sprintf("%d cycles with exact scan work, need %d", int(l.n), minFitCycles))
	}
	if l.meanY <= 0 {
		return f.undecided("the cycles took no measurable processor time")
	}
	f.Mean = time.Duration(l.meanY)
	if l.meanX <= 0 || math.Sqrt(l.sxx/l.n) < minFitSpread*l.meanX {
		f.PerByte = l.throughOrigin()
		return f.undecided("scan work hardly differs between cycles")
	}
	fixed, slope, half := l.nonNegative()
	f.PerByte = slope
	share := fixed / l.meanY
	half /= l.meanY
	f.FixedShare = stats.Interval{Value: share, Low: math.Max(0, share-half), High: math.Min(1, share+half)}
	if !(half <= maxHalfWidth) { // also when it is not a number
		f.PerByte = l.throughOrigin()
		bounds := f.FixedShare
		f = f.undecided(fmt.Sprintf("the cost of %d cycles scatters too much: the fixed share is somewhere from %.2f to %.2f", f.Cycles, bounds.Low, bounds.High))
		f.FixedShare.Low, f.FixedShare.High = bounds.Low, bounds.High
		return f
	}
	f.Fixed = time.Duration(fixed)
	return f
}

func (f CycleFit) undecided(reason string) CycleFit {
	f.Fixed, f.FixedShare, f.Reason = 0, stats.Interval{High: 1}, reason
	return f
}

// line holds the moments of a regression of y, nanoseconds, on x, bytes.
type line struct{ n, meanX, meanY, sxx, sxy, syy float64 }

// lineOf takes the moments around the running mean (Welford), so that scan
// work of many gibibytes loses no digits.
func lineOf(cycles []evidence.Cycle) line {
	var l line
	for _, c := range cycles {
		if c.Forced || c.Pacer == nil {
			continue
		}
		p := c.Pacer
		x := float64(p.HeapScan) + float64(p.StackScan) + float64(p.GlobalScan)
		y := float64(c.CPU() + c.Used.Idle)
		l.n++
		dx, dy := x-l.meanX, y-l.meanY
		l.meanX += dx / l.n
		l.meanY += dy / l.n
		l.sxx += dx * (x - l.meanX)
		l.sxy += dx * (y - l.meanY)
		l.syy += dy * (y - l.meanY)
	}
	return l
}

// throughOrigin is the slope of the line without a fixed part.
func (l line) throughOrigin() float64 {
	xx := l.sxx + l.n*l.meanX*l.meanX
	if xx <= 0 {
		return 0
	}
	return math.Max(0, (l.sxy+l.n*l.meanX*l.meanY)/xx)
}

// nonNegative returns the least-squares line whose intercept and slope are not
// negative, and the half-width of the 95 % interval of the intercept.
func (l line) nonNegative() (fixed, slope, half float64) {
	slope = l.sxy / l.sxx
	fixed = l.meanY - slope*l.meanX
	df := l.n - 2
	residual := math.Max(0, l.syy-slope*l.sxy) / df
	half = studentT95(df) * math.Sqrt(residual*(1/l.n+l.meanX*l.meanX/l.sxx))
	switch {
	case slope < 0:
		return l.meanY, 0, half
	case fixed < 0:
		return 0, l.throughOrigin(), half
	}
	return fixed, slope, half
}

// studentT95 is the two-sided 95 % quantile of Student's t by the expansion in
// 1/df (Abramowitz and Stegun 26.7.5); within 0.5 % from 6 degrees on.
func studentT95(df float64) float64 {
	const z = stats.Z95
	g1 := (z*z*z + z) / 4
	g2 := (5*math.Pow(z, 5) + 16*z*z*z + 3*z) / 96
	return z + g1/df + g2/(df*df)
}
