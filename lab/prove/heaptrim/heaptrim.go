// Package heaptrim runs heaptrim prove from outside, as a user does, and reads
// its JSON.
package heaptrim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Proof is the part of heaptrim.prove/1 that the trials look at.
type Proof struct {
	Schema  string `json:"schema"`
	Verdict struct {
		Outcome  string `json:"outcome"`
		Sentence string `json:"sentence"`
	} `json:"verdict"`
	Comparisons []struct {
		Name    string   `json:"name"`
		Outcome string   `json:"outcome"`
		Pairs   int      `json:"pairs"`
		Differs []string `json:"work_differs"`
		FailedA string   `json:"failed_a"`
		FailedB string   `json:"failed_b"`
		Changes []Change `json:"changes"`
	} `json:"comparisons"`
	LeftOut []string `json:"left_out"`
	Exit    int      `json:"-"` // status of the command
}

// Change is one metric of a comparison.
type Change struct {
	Unit    string `json:"unit"`
	Judged  bool   `json:"judged"`
	Outcome string `json:"outcome"`
	A       *Value `json:"a"`
	B       *Value `json:"b"`
	Delta   *Value `json:"change"`
	Exact   bool   `json:"exact"`
	Apart   bool   `json:"apart"`
}

// Value is a figure of one side.
type Value struct {
	Value float64 `json:"value"`
}

// Prove runs the tool at binary. Exit status 3, B is worse, is a result.
func Prove(binary, dir string, env []string, args ...string) (Proof, error) {
	out := filepath.Join(dir, "heaptrim-proof.json")
	defer os.Remove(out)
	cmd := exec.Command(binary, append([]string{"prove", "-C", dir, "-json", out}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	var said bytes.Buffer
	cmd.Stderr = &said
	var p Proof
	if err := cmd.Run(); err != nil {
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) || exit.ExitCode() != 3 {
			return p, fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
		}
		p.Exit = 3
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(data, &p)
}
