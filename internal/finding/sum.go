package finding

// AddRun adds what a finding costs in a run.
func AddRun(list []RunCost, r RunCost) []RunCost {
	for i := range list {
		if list[i].Run == r.Run {
			list[i].Cost = list[i].Cost.Add(r.Cost)
			return list
		}
	}
	return append(list, r)
}

// AddPlace adds the weight of a line.
func AddPlace(list []Place, p Place) []Place {
	for i := range list {
		if list[i].Site == p.Site {
			list[i].Share += p.Share
			return list
		}
	}
	return append(list, p)
}

// Shares divides the weights of lines by their sum. The only line of an object needs no list.
func Shares(list []Place) []Place {
	if len(list) < 2 {
		return nil
	}
	all := 0.0
	for _, p := range list {
		all += p.Share
	}
	for i := range list {
		if all > 0 {
			list[i].Share /= all
		} else {
			list[i].Share = 0
		}
	}
	return list
}
