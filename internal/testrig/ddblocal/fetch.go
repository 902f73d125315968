package ddblocal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/touchline/touchline/internal/testrig/cache"
)

// The newest version for which Maven Central has all dependencies. Some modules of the SDK version it asks for are missing there, so the
// SDK's list of versions is given as well.
const (
	version    = "3.3.1"
	sdkVersion = "2.41.0"
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

// fetch returns the folder with DynamoDB Local's jars, and lets Maven download them if needed. An error says what the machine lacks.
func fetch(ctx context.Context) (string, error) {
	dir, err := cache.Folder(ctx, "ddblocal-"+version, download)
	if err != nil {
		return "", fmt.Errorf("DynamoDB Local cannot be had: %w", err)
	}
	return dir, nil
}

func download(ctx context.Context, dir string) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return errors.New("it comes by Maven (Debian: apt-get install maven)")
	}
	if err := os.WriteFile(filepath.Join(dir, "pom.xml"), []byte(pom), 0o600); err != nil {
		return err
	}
	_, err = cache.Run(ctx, dir, mvn, "--batch-mode", "--quiet", "dependency:copy-dependencies", "-DoutputDirectory=.")
	if err != nil {
		return fmt.Errorf("it comes by Maven, which needs a way to Maven Central, or a mirror in ~/.m2/settings.xml: %w", err)
	}
	return nil
}
