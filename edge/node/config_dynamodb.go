package node

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/httpapi/dynamoapi/sigv4"
	"github.com/touchline/touchline/internal/fault"
)

// DynamoDBConfig is the endpoint for DynamoDB's protocol.
type DynamoDBConfig struct {
	Listen string `yaml:"listen"` // empty: no endpoint
	Auth   string `yaml:"auth"`   // file of keys and their permissions; empty: anyone who can connect may do everything
	TLS    bool   `yaml:"tls"`    // HTTPS with the certificate of http.tls; plain HTTP only from this machine
	Inject string `yaml:"inject"` // file of faults to inject; empty: none

	TTLSweep time.Duration `yaml:"ttl_sweep"` // how often items past their TTL are deleted; 0: store.DefaultSweep
}

// SweepProblem returns what is wrong with the interval between two sweeps of expired items; empty: nothing.
func (c DynamoDBConfig) SweepProblem() string {
	if c.TTLSweep != 0 && (c.TTLSweep < time.Second || c.TTLSweep > 24*time.Hour) {
		return fmt.Sprintf("must be from 1s to 24h0m0s, not %s", c.TTLSweep)
	}
	return ""
}

// ListenProblem returns what is wrong with the address; empty: nothing.
func (c DynamoDBConfig) ListenProblem() string {
	if c.Listen == "" {
		return ""
	}
	local, err := IsLoopback(c.Listen)
	switch {
	case err != nil:
		return err.Error()
	case !local && c.Auth == "":
		return fmt.Sprintf("%q can be reached from other machines, and anyone who can reach it may do everything: name a file of "+
			"keys (dynamodb.auth, --dynamodb-auth), or listen on 127.0.0.1", c.Listen)
	}
	return ""
}

// fileProblems returns the errors in the files that the section names.
func (c DynamoDBConfig) fileProblems() (out []app.Problem) {
	bad := func(key string, err error) {
		if f, ok := errors.AsType[*fault.Error](err); ok {
			out = append(out, app.Problem{Key: key, Text: f.Message})
		}
	}
	if c.Auth != "" {
		_, err := sigv4.Load(c.Auth)
		bad("dynamodb.auth", err)
	}
	if c.Inject != "" {
		_, err := inject.Load(c.Inject)
		bad("dynamodb.inject", err)
	}
	return out
}

// Problems returns the errors in the section.
func (c DynamoDBConfig) Problems() (out []app.Problem) {
	for key, text := range map[string]string{"dynamodb.listen": c.ListenProblem(), "dynamodb.ttl_sweep": c.SweepProblem()} {
		if text != "" {
			out = append(out, app.Problem{Key: key, Text: text})
		}
	}
	slices.SortFunc(out, func(a, b app.Problem) int { return cmp.Compare(a.Key, b.Key) })
	return append(out, c.fileProblems()...)
}
