//go:build long

package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/touchline/touchline/internal/testrig/cache"
)

// The generators that are tested. TypeScript's are in testdata/generators/package.json.
const (
	oapiCodegen      = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"
	openAPIGenerator = "7.25.0"
	openAPISum       = "41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae"
)

// A Go client is generated, compiles, and reads what the server answers.
func TestGoClient(t *testing.T) {
	program, err := exec.LookPath("go")
	if err != nil {
		t.Skip("oapi-codegen needs the go command")
	}
	bin, err := cache.Folder(t.Context(), "oapi-codegen-v2.8.2", func(ctx context.Context, dir string) error {
		_, err := cache.Run(ctx, dir, "env", "GOBIN="+dir, "GOFLAGS=", program, "install", oapiCodegen)
		return err
	})
	if err != nil {
		t.Skipf("oapi-codegen needs access to the Go module proxy: %v", err)
	}
	dir := workplace(t, "go.mod", "go.sum", "main.go", "oapi-codegen.yaml")
	generate(t, dir, filepath.Join(bin, "oapi-codegen"), "-config", "oapi-codegen.yaml", "openapi.yaml")
	if _, err := cache.Run(t.Context(), dir, program, "mod", "download"); err != nil {
		t.Skipf("the generated client needs access to the Go module proxy: %v", err)
	}
	generate(t, dir, program, "build", "-o", "client", ".")
	cfg, _, in := config(t)
	home, _ := start(t, cfg)
	got := generate(t, dir, filepath.Join(dir, "client"), home+"/cricket")
	if want := in.Display.MatchID + " live\n404 match_not_found"; got != want {
		t.Errorf("the client reads %q, want %q", got, want)
	}
}

// TypeScript types are generated, and a program that uses them passes the compiler.
func TestTypeScriptTypes(t *testing.T) {
	const install = "openapi-typescript needs Node 20 or newer with npm (Debian: apt-get install nodejs npm)"
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip(install)
	}
	dir := workplace(t, "package.json", "package-lock.json", "use.ts")
	lock, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(lock)
	tools, err := cache.Folder(t.Context(), "openapi-typescript-"+hex.EncodeToString(sum[:6]), func(ctx context.Context, to string) error {
		if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
			return err
		}
		_, err := cache.Run(ctx, to, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error")
		return err
	})
	if err != nil {
		t.Skipf("%s, and access to npm's registry: %v", install, err)
	}
	bin := filepath.Join(tools, "node_modules", ".bin")
	generate(t, dir, filepath.Join(bin, "openapi-typescript"), "openapi.yaml", "-o", "api.d.ts")
	generate(t, dir, filepath.Join(bin, "tsc"), "--noEmit", "--strict", "use.ts", "api.d.ts")
}

// A Swift client is generated: every operation is a function, and every object a type, under the names of the document. It is
// not compiled.
func TestSwiftClient(t *testing.T) {
	const install = "openapi-generator needs Java and Maven (Debian: apt-get install default-jre-headless maven)"
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip(install)
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		t.Skip(install)
	}
	jar := "openapi-generator-cli-" + openAPIGenerator + ".jar"
	tools, err := cache.Folder(t.Context(), "openapi-generator-"+openAPIGenerator, func(ctx context.Context, dir string) error {
		_, err := cache.Run(ctx, dir, mvn, "--batch-mode", "--quiet", "dependency:copy",
			"-Dartifact=org.openapitools:openapi-generator-cli:"+openAPIGenerator+":jar", "-DoutputDirectory="+dir)
		return err
	})
	if err != nil {
		t.Skipf("%s, and access to Maven Central: %v", install, err)
	}
	jar = filepath.Join(tools, jar)
	raw, err := os.ReadFile(jar)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != openAPISum {
		t.Fatalf("%s has another checksum: %x", jar, sum)
	}
	dir := workplace(t)
	generate(t, dir, java, "-jar", jar, "generate", "-g", "swift6", "-i", "openapi.yaml", "-o", "swift")
	all := swiftFiles(t, filepath.Join(dir, "swift"))
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if !strings.Contains(all, " func "+op.OperationID+"(") {
				t.Errorf("%s %s has no function %s", method, path, op.OperationID)
			}
		}
	}
	for name, s := range doc.Components.Schemas {
		if v := s.Value; v.Type.Is("object") && len(v.Properties) > 0 && !strings.Contains(all, " struct "+name+":") {
			t.Errorf("%s has no struct", name)
		}
	}
}

// swiftFiles returns the text of all generated files.
func swiftFiles(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".swift" {
			return err
		}
		raw, err := os.ReadFile(path)
		all.Write(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// workplace returns a directory with the document and with files of testdata/generators.
func workplace(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		raw, err := os.ReadFile(filepath.Join("testdata", "generators", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "openapi.yaml"), openAPI, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// generate runs a command that must not fail, and returns its output.
func generate(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	out, err := cache.Run(t.Context(), dir, program, args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
