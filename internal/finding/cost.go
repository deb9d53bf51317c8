package finding

import "github.com/heaptrim/heaptrim/internal/stats"

// Share is the share of CPU that reports show, which is not below zero. What a site keeps
// alive can save more than the site costs: Retention has by how much.
func (c Cost) Share() stats.Interval { return c.CPU.Clip(0, 1) }

// Add is the cost of both.
func (c Cost) Add(d Cost) Cost {
	return Cost{
		CPU:              c.CPU.Add(d.CPU),
		Malloc:           c.Malloc.Add(d.Malloc),
		Zeroing:          c.Zeroing.Add(d.Zeroing),
		GrowCopy:         c.GrowCopy.Add(d.GrowCopy),
		Assist:           c.Assist.Add(d.Assist),
		Churn:            c.Churn.Add(d.Churn),
		Retention:        c.Retention.Add(d.Retention),
		BytesPerOp:       c.BytesPerOp.Add(d.BytesPerOp),
		ObjectsPerOp:     c.ObjectsPerOp.Add(d.ObjectsPerOp),
		BytesPerSecond:   c.BytesPerSecond.Add(d.BytesPerSecond),
		ObjectsPerSecond: c.ObjectsPerSecond.Add(d.ObjectsPerSecond),
		Bytes:            c.Bytes.Add(d.Bytes),
		Objects:          c.Objects.Add(d.Objects),
		InUse:            c.InUse.Add(d.InUse),
		InUseObjects:     c.InUseObjects + d.InUseObjects,
	}
}

// Part is the cost of a part that has a share of the objects and a share of the bytes, both from 0 to 1.
// malloc is charged by objects, all else by bytes.
func (c Cost) Part(objects, bytes float64) Cost {
	if objects == 1 && bytes == 1 {
		return c
	}
	p := Cost{
		Malloc:           c.Malloc.Scale(objects),
		Zeroing:          c.Zeroing.Scale(bytes),
		GrowCopy:         c.GrowCopy.Scale(bytes),
		Assist:           c.Assist.Scale(bytes),
		Churn:            c.Churn.Scale(bytes),
		Retention:        c.Retention.Scale(bytes),
		BytesPerOp:       c.BytesPerOp.Scale(bytes),
		ObjectsPerOp:     c.ObjectsPerOp.Scale(objects),
		BytesPerSecond:   c.BytesPerSecond.Scale(bytes),
		ObjectsPerSecond: c.ObjectsPerSecond.Scale(objects),
		Bytes:            c.Bytes.Scale(bytes),
		Objects:          c.Objects.Scale(objects),
		InUse:            c.InUse.Scale(bytes),
		InUseObjects:     c.InUseObjects * objects,
	}
	byBytes := c.CPU.Value - c.Malloc.Value
	if c.CPU.Value > 0 {
		p.CPU = c.CPU.Scale((c.Malloc.Value*objects + byBytes*bytes) / c.CPU.Value)
	}
	return p
}
