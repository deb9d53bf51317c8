package presizemap

type user struct {
	id, name string
}

func byID(users []*user) map[string]*user {
	out := make(map[string]*user)
	for _, u := range users {
		out[u.id] = u // want `out is rebuilt while it grows to a size known before the loop: make it with size len\(users\)`
	}
	return out
}

func clone[K comparable, V any](in map[K]V) map[K]V {
	out := map[K]V{}
	for k, v := range in {
		out[k] = v // want `size len\(in\)`
	}
	return out
}

func unique(users []*user) bool {
	seen := make(map[string]bool)
	for _, u := range users {
		if _, ok := seen[u.id]; ok {
			return false
		}
		seen[u.id] = true
	}
	return true
}

func index(names []string) map[string]int {
	out := make(map[string]int)
	for i := range names {
		out[names[i]] = i // want `size len\(names\)`
	}
	return out
}

// Silent from here on.

func counts(users []*user) map[string]int {
	out := make(map[string]int)
	for _, u := range users {
		out[u.name]++
	}
	return out
}

func groups(users []*user) map[string][]*user {
	out := make(map[string][]*user)
	for _, u := range users {
		out[u.name] = append(out[u.name], u)
	}
	return out
}

func groupsByTwoSteps(users []*user) map[string][]*user {
	out := make(map[string][]*user)
	for _, u := range users {
		g := out[u.name]
		g = append(g, u)
		out[u.name] = g
	}
	return out
}

func some(users []*user) map[string]*user {
	out := make(map[string]*user)
	for _, u := range users {
		if u.name != "" {
			out[u.id] = u
		}
	}
	return out
}

func oneKey(users []*user, key string) map[string]*user {
	out := make(map[string]*user)
	for _, u := range users {
		out[key] = u
	}
	return out
}

func sized(users []*user) map[string]*user {
	out := make(map[string]*user, len(users))
	for _, u := range users {
		out[u.id] = u
	}
	return out
}

func few(users *[8]*user) map[string]*user {
	out := make(map[string]*user)
	for _, u := range users {
		out[u.id] = u
	}
	return out
}

func shadowed(users []*user) map[string]*user {
	make := func(m map[string]*user) map[string]*user { return m }
	out := make(nil)
	for _, u := range users {
		out[u.id] = u
	}
	return out
}
