package gcmodel

import "math"

// swing models the live heap between recorded cycles as a mean-reverting process
// (Ornstein–Uhlenbeck) with a correlation length in bytes. Between cycles that are nearer
// than that, the live heap is interpolated linearly. Between cycles that are farther apart
// it returns to its mean, so a long distance after a cycle with a large live heap is not
// large throughout.
type swing struct {
	reach float64   // correlation length in bytes; 0: no correlation
	mean  []float64 // near each cycle
	sd    []float64 // near each cycle
	grows float64   // part of a cycle's cost that goes with the live heap
}

const (
	swingCycles = 8    // neighbours on either side for mean and deviation
	leastSwing  = 0.05 // least part of the mean that remains after a draw
)

// swingOf finds the reach with which neighbours predict each cycle's live heap best.
func swingOf(ps []Point) swing {
	var best swing
	step := (ps[len(ps)-1].At - ps[0].At) / float64(len(ps)-1)
	if len(ps) < 2*swingCycles || step <= 0 {
		return best
	}
	least := math.Inf(1)
	for reach := step / 4; reach < 256*step; reach *= math.Sqrt2 {
		s := around(ps, reach)
		if v := s.surprise(ps); v < least {
			least, best = v, s
		}
	}
	best.grows = costGrowth(ps)
	return best
}

// around takes mean and deviation of the cycles on either side. Each is weighted by its
// distance to its neighbours, up to the reach.
func around(ps []Point, reach float64) swing {
	s := swing{reach: reach, mean: make([]float64, len(ps)), sd: make([]float64, len(ps))}
	weight := make([]float64, len(ps))
	for i := range ps {
		if i > 0 {
			weight[i] += math.Min(ps[i].At-ps[i-1].At, reach)
		}
		if i+1 < len(ps) {
			weight[i] += math.Min(ps[i+1].At-ps[i].At, reach)
		}
	}
	for i := range ps {
		var n, sum, squares float64
		for k := max(0, i-swingCycles); k < min(len(ps), i+swingCycles+1); k++ {
			n += weight[k]
			sum += weight[k] * ps[k].Live
			squares += weight[k] * ps[k].Live * ps[k].Live
		}
		if n == 0 {
			s.mean[i] = ps[i].Live
			continue
		}
		s.mean[i] = sum / n
		s.sd[i] = math.Sqrt(math.Max(0, squares/n-s.mean[i]*s.mean[i]))
	}
	return s
}

// relative is the deviation of the live heap as a part of its mean.
func (s swing) relative() float64 {
	var sd, mean float64
	for i := range s.mean {
		sd, mean = sd+s.sd[i], mean+s.mean[i]
	}
	if mean <= 0 {
		return 0
	}
	return sd / mean
}

// surprise is the total deviation of cycles from the values that their neighbours predict.
func (s swing) surprise(ps []Point) float64 {
	sum := 0.0
	for i := 1; i+1 < len(ps); i++ {
		sum += math.Abs(ps[i].Live - s.bridge(ps, span{i - 1, i + 1}, ps[i].At, 0))
	}
	return sum
}

// costGrowth is the part of a cycle's cost that goes with the bytes marked.
func costGrowth(ps []Point) float64 {
	var x, y []float64
	for _, p := range ps {
		x = append(x, p.Live+p.Beside/2)
		y = append(y, p.total())
	}
	mx, my := mean(x), mean(y)
	var xx, xy float64
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		xy += (x[i] - mx) * (y[i] - my)
	}
	if xx <= 0 || my <= 0 || mx <= 0 {
		return 0
	}
	return math.Min(math.Max(xy/xx*mx/my, 0), 1)
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// span is from one cycle to a later one.
type span struct{ from, to int }

// bridge is the live heap at a place between two cycles, with a deviation drawn
// by z, whose mean is 0 and whose variance is 1.
func (s swing) bridge(ps []Point, between span, at, z float64) float64 {
	a, b := ps[between.from], ps[between.to]
	if b.At <= a.At {
		return b.Live
	}
	part := (at - a.At) / (b.At - a.At)
	far := (b.At - a.At) / s.reach
	if s.reach <= 0 || far < straight {
		return a.Live + (b.Live-a.Live)*part
	}
	far = math.Min(far, 50) // beyond that there is no correlation, and Sinh overflows
	whole := math.Sinh(far)
	from, to := math.Sinh(far*(1-part))/whole, math.Sinh(far*part)/whole
	ma, mb := s.mean[between.from], s.mean[between.to]
	middle := ma + (mb-ma)*part
	sd := s.sd[between.from] + (s.sd[between.to]-s.sd[between.from])*part
	free := math.Sqrt(math.Max(0, (math.Cosh(far)-math.Cosh(far*(1-2*part)))/whole))
	return math.Max(middle+(a.Live-ma)*from+(b.Live-mb)*to+sd*free*z, leastSwing*middle)
}

// straight is the distance of cycles, as a part of the reach, below which interpolation is
// linear.
const straight = 1.0 / 32
