package ddblocal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The newest version that Maven Central has with all it depends on; of the SDK some modules of the version it asks for
// are not there, so the SDK's list of versions is named too.
const (
	version    = "3.3.1"
	sdkVersion = "2.41.0"
	fetchLimit = 5 * time.Minute
)

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>touchline</groupId>
  <artifactId>ddblocal</artifactId>
  <version>1</version>
  <dependencyManagement>
    <dependencies>
      <dependency>
        <groupId>software.amazon.awssdk</groupId>
        <artifactId>bom</artifactId>
        <version>` + sdkVersion + `</version>
        <type>pom</type>
        <scope>import</scope>
      </dependency>
    </dependencies>
  </dependencyManagement>
  <dependencies>
    <dependency>
      <groupId>software.amazon.dynamodb</groupId>
      <artifactId>DynamoDBLocal</artifactId>
      <version>` + version + `</version>
    </dependency>
  </dependencies>
</project>
`

// fetch gives the folder with DynamoDB Local's jars, and downloads them where it is not there. An error says what the
// machine lacks.
func fetch(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("DynamoDB Local needs a cache folder: %w", err)
	}
	dir := filepath.Join(cache, "touchline", "ddblocal-"+version)
	if isFolder(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", fmt.Errorf("DynamoDB Local needs a cache folder: %w", err)
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return "", fmt.Errorf("DynamoDB Local needs a cache folder: %w", err)
	}
	defer unlock()
	if isFolder(dir) { // another process was faster
		return dir, nil
	}
	return dir, download(ctx, dir)
}

// download has Maven fill a folder beside dir, which gets its name when it is whole.
func download(ctx context.Context, dir string) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return errors.New("DynamoDB Local comes by Maven (Debian: apt-get install maven)")
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "ddblocal-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }() // what stays is a folder in a cache
	if err := os.WriteFile(filepath.Join(temp, "pom.xml"), []byte(pom), 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	//nolint:gosec // the mvn of this machine, with arguments of ours
	cmd := exec.CommandContext(ctx, mvn, "--batch-mode", "--quiet",
		"dependency:copy-dependencies", "-DoutputDirectory=lib")
	cmd.Dir = temp
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("DynamoDB Local cannot be downloaded: Maven needs a way to Maven Central, or a mirror in "+
			"~/.m2/settings.xml: %w\n%s", err, lastLines(string(out), 5))
	}
	return os.Rename(filepath.Join(temp, "lib"), dir)
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
