package evidence

// Code is the machine code of one function of a binary.
type Code struct {
	Function     string // name of the symbol, with the shapes of a generic function
	File         string // where it is declared, as the compiler recorded it
	Instructions []Instruction
}

// Instruction is one instruction.
type Instruction struct {
	Address uint64 // as linked
	File    string // base name of the source file; that of an inlined function where it is one's
	Line    int    // 0 when unknown
	Text    string // in Go's assembler syntax
}
