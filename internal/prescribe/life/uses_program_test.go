package life

// usesProgram has the cases of TestUses, TestDecoder and TestPooled.
const usesProgram = `// What is done with text, parts and boxes.
func sorts(a, b string) bool {
	return strings.ToLower(a) < b // case sorted 0
}

func folds(name string) bool {
	return strings.ToLower(name) == "x" // case folded 0
}

func folded(seen map[string]bool, name string) bool {
	return seen[strings.ToLower(name)] // case key 0
}

func parts(text string) (n int) {
	list := strings.Split(text, ",") // case parts 0
	for i := range list {
		n += i
	}
	return n
}

func lastPart(text string) (n int) {
	list := strings.Split(text, ",") // case counted 0
	for i := range list {
		if i == len(list)-1 {
			n++
		}
	}
	return n
}

func lineAndColumn(text string) (line, column int) {
	lines := strings.Split(text, "\n") // case place 0
	n := len(lines)
	return n, len(lines[n-1])
}

func joinedParts(text string) string {
	list := strings.Split(text, ",") // case handed 0
	return strings.Join(list[1:], ";")
}

func total(list []int, f func() int) (n int) {
	for range list {
		n += f()
	}
	return n
}

func loops(list []int, by int) (n int) {
	for range list {
		n += total(list, func() int { return by }) // case hoisted 0
	}
	for i := range list {
		n += total(list, func() int { return i }) // case turned 0
	}
	return n
}

var hook func(func() int)

func onCall(f func() int) {
	if hook != nil {
		hook(f)
	}
}

func hooked(by int) {
	onCall(func() int { return by }) // case hooked 0
}

func (n *node) size(by int) int {
	return total(nil, func() int { return len(n.buf) }) + // case ofreceiver 0
		total(nil, func() int { return len(n.buf) * by }) // case ofargument 0
}

func ownParts(text string) int {
	list := strings.Split(text, ",") // case ownparts 0
	return lengths(list[1:])
}

func lengths(list []string) (n int) {
	for _, s := range list {
		n += len(s)
	}
	return n
}

type logger struct {
	on bool
	w  io.Writer
}

func (l *logger) Log(args ...any) { l.log(args) }

func (l *logger) log(args []any) {
	if l.on {
		fmt.Fprint(l.w, args...)
	}
}

func (l *logger) Pair(key, value any) error {
	if _, err := fmt.Fprint(l.w, key); err != nil {
		return err
	}
	_, err := fmt.Fprint(l.w, value)
	return err
}

func logs(l *logger, n int) {
	l.Log(n) // case logged 0
}

func pairs(l *logger, n int) error {
	return l.Pair("n", n) // case paired 0
}

func pieces(text string) (all []string) {
	var b strings.Builder // case emptied 1
	for _, r := range text {
		b.WriteRune(r) // case emptied 0
		all = append(all, b.String())
		b.Reset()
	}
	return all
}

func listedAsAny(l *logger, n int) []any {
	return append([]any{"n"}, strconv.Itoa(n)) // case boxedtext 0
}

func printedText(n int) string {
	return fmt.Sprint("n", strconv.Itoa(n)) // case printedtext 0
}

func cleared(text string) (n int) {
	var b bytes.Buffer // case cleared 1
	for _, r := range text {
		b.WriteRune(r) // case cleared 0
		n += b.Len()
		b.Reset()
	}
	return n
}

func grownOnce(text string) string {
	var b strings.Builder // case enlarged 1
	b.Grow(len(text))
	for _, r := range text {
		b.WriteRune(2 * r) // case enlarged 0
	}
	return b.String()
}

// Only a test calls the methods of this type.
type registry struct{ byName map[string]*node }

func (r *registry) find(pkg, name string) *node {
	key := qualified(pkg, name) // case lookedup 1
	if n, ok := r.byName[key]; ok {
		return n
	}
	n := new(node)
	r.byName[key] = n
	return n
}

func qualified(pkg, name string) string {
	return pkg + "." + name // case lookedup 0
}

func (r *registry) replace(pkg string) {
	key := pkg + "." // case replaced 0
	if n, ok := r.byName[key]; ok {
		r.byName[key] = n.next
	}
}

func (r *registry) report(pkg, name string) bool {
	key := pkg + name // case reported 0
	fmt.Println(key)
	return r.byName[key] != nil
}

// Decoders of what is in memory.
func decodeOne(data []byte, v any, numbers bool) error {
	d := json.NewDecoder(bytes.NewReader(data)) // case decoder 0
	if numbers {
		d.UseNumber()
	}
	return d.Decode(v) // case decode 0
}

func decodeStrictly(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data)) // case strict 0
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func decodeAll(data []byte, each func(any)) {
	d := json.NewDecoder(bytes.NewReader(data)) // case stream 0
	for {
		var v any
		if d.Decode(&v) != nil {
			return
		}
		each(v)
	}
}

func decodeStream(r io.Reader, v any) error {
	return json.NewDecoder(r).Decode(v) // case remote 0
}

func columns(w *csv.Writer, n int) error {
	return w.Write([]string{strconv.Itoa(n)}) // case column 0
}

func line(w io.Writer, n int) {
	io.WriteString(w, strconv.Itoa(n)) // case line 0
}

type place struct{ name string }

func address(name string) (place, error) { return place{name}, nil }

func boxes(name string) (any, error) {
	return address(name) // case boxedresult 0
}

var zippers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

type response struct {
	pooled, own *gzip.Writer
}

func (r *response) open(w io.Writer) {
	z := zippers.Get().(*gzip.Writer)
	z.Reset(w)
	r.pooled = z
	r.own = gzip.NewWriter(w)
}

func (r *response) write(p []byte) {
	r.pooled.Write(p) // case frompool 0
	r.own.Write(p)    // case fromnew 0
}

type runes struct {
	scratch, handed []byte
	w               *bufio.Writer
}

func (r *runes) write(c rune) {
	r.scratch = make([]byte, 4) // case scratch 0
	r.handed = make([]byte, 4)  // case notscratch 0
	n := utf8.EncodeRune(r.scratch, c)
	r.w.Write(r.scratch[:n])
}

func (r *runes) last() []byte { return r.handed }

var origin = place{"here"}

func encoded(v any) ([]byte, error) { return json.Marshal(v) }

func encodes(p place) {
	encoded(p) // case forwarded 0
}

func firstOf(parts []string) string { return parts[0] }

func endOf(parts []string) string { return parts[len(parts)-1] }

func ends(text string) string {
	parts := strings.Split(text, ",") // case ends 0
	return firstOf(parts) + endOf(parts)
}

// A text that shares the bytes' memory.
func shares(b []byte) string {
	c := append([]byte("a"), b...) // case shares 0
	return *(*string)(unsafe.Pointer(&c))
}

// A decoder sets the value behind a pointer without a type.
func decode(p unsafe.Pointer, b []byte) {
	text := string(b) // case sets 0
	**(**string)(unsafe.Pointer(&p)) = text
}

func boxesOrigin() {
	fmt.Println(origin) // case unchanged 0
}

var places = map[string]place{"here": {"here"}}

var visited = []place{{"there"}}

func boxesElements(name string) {
	fmt.Println(places[name]) // case tabled 0
	fmt.Println(visited[0]) // case changed 0
	for _, p := range places {
		fmt.Println(p) // case ranged 0
	}
}

func visit(p place) { visited[0] = p }

type bag struct{ all []any }

func (b *bag) put(v any) { b.all = append(b.all, v) }

type marked struct{ all []any }

func (m *marked) put(v any) { m.all = append(m.all, v) }

func (m *marked) mark() { m.put(7) }

func shared() *bag { return theBag }

var theBag = &bag{}

type traveller struct {
	seen, mixed bag
	shown, same *bag
	own         marked
}

func newTraveller() *traveller { return &traveller{same: shared()} }

func (t *traveller) travel(p place, n int) {
	t.seen.put(p)  // case alike 0
	t.mixed.put(p) // case mixed 0
	t.mixed.put(n)
	t.shown.put(p) // case shown 0
	t.same.put(p)  // case same 0
	t.own.put(p)   // case marks 0
}

func (t *traveller) show() *bag { return t.shown }

func legs(all []place) (n int) {
	var some []any
	for _, p := range all {
		some = append(some, p) // case sliced 0
	}
	for _, s := range some {
		n += len(s.(place).name)
	}
	by := map[string]any{}
	by["first"] = all[0] // case mapped 0
	if p, ok := by["last"].(place); ok {
		n += len(p.name)
	}
	others := []any{n}
	others = append(others, all[0]) // case twotypes 0
	n += len(others[1].(place).name)
	printed := []any{}
	printed = append(printed, all[0]) // case printed 0
	n += len(printed[0].(place).name)
	fmt.Println(printed...)
	never := make([]any, 1)
	never[0] = all[0] // case unasserted 0
	return n + len(never)
}

type stops struct{ next, Open []any }

func (s *stops) push(p place) {
	s.next = append(s.next, p) // case pushed 0
	s.Open = append(s.Open, p) // case open 0
}

func (s *stops) pop() place {
	last := s.next[len(s.next)-1]
	s.next = s.next[:len(s.next)-1]
	return last.(place)
}

func (s *stops) first() place { return s.Open[0].(place) }

func lastOf(n int) (last int) {
	list := make([]int, n) // case backward 0
	for _, x := range slices.Backward(list) {
		last = x
	}
	return last
}

func inBuffer(list []string) string {
	var b bytes.Buffer
	add := func(s string) { b.WriteString(s) }
	for _, s := range list {
		add(s)
	}
	fmt.Fprint(&b, len(list))
	return b.String() // case built 0
}

type serializer struct{ b bytes.Buffer }

func (s *serializer) text() string { return s.b.String() } // case serialized 0

func (s *serializer) again() { s.b.Reset() }
`
