package edge

import "testing"

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
