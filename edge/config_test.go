package edge

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/internal/strictyaml"
)

// Two listeners need two ports.
func TestListenProblems(t *testing.T) {
	for _, tt := range []struct {
		listen, dynamodb string
		bad              string
	}{
		{"127.0.0.1:8080", "127.0.0.1:8000", ""},
		{"127.0.0.1:0", "127.0.0.1:0", ""},
		{"127.0.0.1:8080", "[::1]:8080", ""},
		{"127.0.0.1:99999", "", "listen"},
		{"127.0.0.1:-1", "", "listen"},
		{"127.0.0.1:8080", "127.0.0.1:99999", "dynamodb.listen"},
		{"127.0.0.1:8080", "127.0.0.1:8080", "dynamodb.listen"},
		{"127.0.0.1:8080", "localhost:8080", "dynamodb.listen"},
	} {
		c := DefaultConfig()
		c.Listen, c.DynamoDB.Listen = tt.listen, tt.dynamodb
		problems := c.Problems()
		if len(problems) > 1 || (len(problems) == 1) != (tt.bad != "") || len(problems) == 1 && problems[0].Key != tt.bad {
			t.Errorf("%+v: %v", tt, problems)
		}
	}
	if !sameAddress(":80", "10.0.0.1:80") || !sameAddress("0.0.0.0:80", "[::]:80") || sameAddress("10.0.0.1:80", "10.0.0.2:80") {
		t.Error("every host is told from one wrongly")
	}
}

// The mount of every application is checked: its form, and that no other has it.
func TestMounts(t *testing.T) {
	for i, a := range DefaultConfig().Apps {
		for mount, bad := range map[string]bool{"/mine": false, "mine": true, "/hub": true, "/shared": true} {
			c := DefaultConfig()
			c.Said = map[string]bool{a.Name: true}
			if mount == "/shared" { // with the application before it; cricket, the first one, with the second
				other := c.Apps[max(i-1, 1-i)]
				c.Said[other.Name] = true
				setMount(t, other, mount)
			}
			setMount(t, c.Apps[i], mount)
			problems := c.Problems()
			if (len(problems) == 1) != bad || len(problems) == 1 && !strings.HasSuffix(problems[0].Key, ".mount") {
				t.Errorf("%s at %s: %v", a.Name, mount, problems)
			}
		}
	}
}

func setMount(t *testing.T, a *app.App, mount string) {
	t.Helper()
	if problems := strictyaml.Set(a.Settings, "mount", mount); len(problems) > 0 {
		t.Fatal(problems)
	}
}
