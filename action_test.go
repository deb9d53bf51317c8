package heaptrim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recipes are the blocks of action/README.md, in order: GitHub, GitLab.
func recipes(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(read(t, "action/README.md"), -1) {
		out = append(out, m[1])
	}
	if len(out) != 2 {
		t.Fatalf("action/README.md has %d recipes, want 2", len(out))
	}
	return out
}

// TestWorkflow has the linter of GitHub's workflows read the recipe, with the action of this
// repository in it.
func TestWorkflow(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a linter")
	}
	dir := t.TempDir()
	workflows := filepath.Join(dir, ".github", "workflows")
	if err := os.MkdirAll(workflows, 0o755); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(recipes(t)[0], "heaptrim/heaptrim@main", "./", 1)
	for name, content := range map[string]string{"action.yml": read(t, "action.yml"), ".github/workflows/guard.yml": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Skipf("no git here: %s", out)
	}
	linter := filepath.Join(dir, "actionlint")
	build := exec.Command("go", "build", "-o", linter, "github.com/rhysd/actionlint/cmd/actionlint")
	build.Dir, build.Env = "tools", append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lint := func(text string) (string, error) {
		if err := os.WriteFile(filepath.Join(workflows, "guard.yml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(linter)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := lint(text); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	// It reads the action: an input that is not there is found.
	if out, err := lint(text + "        with:\n          nonsense: 1\n"); err == nil || !strings.Contains(out, "nonsense") {
		t.Errorf("an input that the action has not: %v\n%s", err, out)
	}
}

// TestComment: the comment is written once and brought up to date after that; where the token may
// not write, the step passes.
func TestComment(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s here", tool)
		}
	}
	type comment struct {
		ID   int    `json:"id"`
		Body string `json:"body"`
	}
	comments := []comment{{1, "looks good"}}
	forbidden := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var c comment
		switch {
		case forbidden || r.Header.Get("Authorization") != "token secret":
			http.Error(w, "{}", http.StatusForbidden)
		case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/repos/o/r/issues/7/comments"):
			_ = json.NewEncoder(w).Encode(comments)
		case json.Unmarshal(body, &c) != nil:
			http.Error(w, "no JSON", http.StatusBadRequest)
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/issues/7/comments"):
			comments = append(comments, comment{len(comments) + 1, c.Body})
		case r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/issues/comments/2"):
			comments[1].Body = c.Body
		default:
			http.Error(w, r.Method+" "+r.URL.Path, http.StatusNotFound)
		}
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "comment.md")
	run := func(text, token string) string {
		t.Helper()
		if err := os.WriteFile(file, []byte("<!-- heaptrim guard -->\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("bash", "action/comment.sh")
		cmd.Env = append(os.Environ(), "GITHUB_API_URL="+server.URL, "GITHUB_REPOSITORY=o/r", "NUMBER=7", "COMMENT="+file, "TOKEN="+token)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			t.Errorf("%v\n%s", err, &out)
		}
		return out.String()
	}
	want := func(bodies ...string) {
		t.Helper()
		var got []string
		for _, c := range comments {
			got = append(got, strings.TrimPrefix(c.Body, "<!-- heaptrim guard -->\n"))
		}
		if fmt.Sprint(got) != fmt.Sprint(bodies) {
			t.Errorf("comments %q, want %q", got, bodies)
		}
	}
	run("first \"quoted\"", "secret")
	want("looks good", "first \"quoted\"")
	run("second", "secret")
	want("looks good", "second")
	for _, token := range []string{"", "secret"} {
		forbidden = true
		if out := run("third", token); !strings.Contains(out, "::notice") {
			t.Errorf("a token that may not write: %s", out)
		}
	}
	want("looks good", "second")
}

// TestGitLabSchema has GitLab's schema, which gitlab-ci-local brings, say whether the recipe is one.
func TestGitLabSchema(t *testing.T) {
	linter, err := exec.LookPath("gitlab-ci-local")
	if err != nil {
		t.Skip("no gitlab-ci-local here")
	}
	lint := func(text string) (string, error) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ".gitlab-ci.yml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
			t.Skipf("no git here: %s", out)
		}
		cmd := exec.Command(linter, "--list", "--variable", "CI_PIPELINE_SOURCE=merge_request_event")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	recipe := recipes(t)[1]
	if out, err := lint(recipe); err != nil || !strings.Contains(out, "schema validated") || !strings.Contains(out, "allocations") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := lint(strings.Replace(recipe, "when: always", "when: sometimes", 1)); err == nil || !strings.Contains(out, "sometimes") {
		t.Errorf("a value that the schema has not: %v\n%s", err, out)
	}
}

// TestGitLab runs the script of the recipe in a clone, as a runner would.
func TestGitLab(t *testing.T) {
	if testing.Short() {
		t.Skip("runs benchmarks")
	}
	_, script, ok := strings.Cut(recipes(t)[1], "  script:\n")
	script, _, _ = strings.Cut(script, "  artifacts:")
	if _, err := exec.LookPath("bash"); err != nil || !ok {
		t.Skipf("bash: %v, a script in the recipe: %v", err, ok)
	}
	var lines []string
	for line := range strings.Lines(script) {
		lines = append(lines, strings.TrimPrefix(strings.TrimSpace(line), "- "))
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir, "./cmd/heaptrim").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	project := filepath.Join(dir, "project")
	setup := `set -e
git init -q -b main origin && cd origin
printf 'module example.com/m\n\ngo 1.26\n' > go.mod
printf 'package m\n\nvar S []byte\n\nfunc F() { S = make([]byte, 10) }\n' > m.go
printf 'package m\n\nimport "testing"\n\nfunc BenchmarkF(b *testing.B) {\n\tfor b.Loop() {\n\t\tF()\n\t}\n}\n' > m_test.go
git add . && git -c user.name=a -c user.email=a@b commit -qm one
git checkout -q -b topic
printf 'package m\n\nvar S, T []byte\n\nfunc F() { S = make([]byte, 10); T = make([]byte, 20) }\n' > m.go
git -c user.name=a -c user.email=a@b commit -qam two
git clone -q --depth=1 --branch topic "file://$PWD" ../project
`
	bash := func(at, text string, env ...string) (string, error) {
		cmd := exec.Command("bash", "-c", text)
		cmd.Dir, cmd.Env = at, append(append(os.Environ(), "GOWORK=off", "GOFLAGS=", "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH")), env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := bash(dir, setup); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The caches of the recipe are the runner's; here they are those of this run.
	steps := "set -e\n" + strings.Join(lines[1:], "\n")
	out, err := bash(project, steps, "CI_PROJECT_DIR="+project, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main")
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 3 {
		t.Fatalf("%v, want exit code 3\n%s", err, out)
	}
	if text := read(t, filepath.Join(project, "comment.md")); !strings.Contains(text, "BenchmarkF") || !strings.Contains(text, "m.go:5") {
		t.Errorf("comment:\n%s", text)
	}
}
