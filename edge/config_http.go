package edge

import "fmt"

// HTTPConfig is how the node's own address behaves.
type HTTPConfig struct {
	CORS       []string   `koanf:"cors"` // origins of web apps that may call, such as https://app.example
	Rate       RateConfig `koanf:"rate"`
	MaxStreams int        `koanf:"max_streams"` // event streams open at once
}

// RateConfig is how much one user, key or address may ask.
type RateConfig struct {
	PerMinute int `koanf:"per_minute"` // 0: no limit
	Burst     int `koanf:"burst"`
}

// AuthConfig is who may ask what.
type AuthConfig struct {
	Cognito    CognitoConfig `koanf:"cognito"`
	AdminGroup string        `koanf:"admin_group"`
	APIKey     string        `koanf:"api_key" secret:"true"` // X-API-Key of a full admin; empty: none
	DevIssuer  bool          `koanf:"dev_issuer"`            // accept tokens of this node's own key: on a loopback address only
}

// CognitoConfig is the user pool whose ID tokens users sign in with.
type CognitoConfig struct {
	Issuer    string   `koanf:"issuer"` // https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEf
	ClientIDs []string `koanf:"client_ids"`
}

func (h HTTPConfig) problems() (out []Problem) {
	bad := func(key, format string, args ...any) {
		out = append(out, Problem{"http." + key, fmt.Sprintf(format, args...)})
	}
	if h.Rate.PerMinute < 0 || h.Rate.Burst < 0 || h.Rate.PerMinute > 0 && h.Rate.Burst == 0 {
		bad("rate", "per_minute and burst must both be above 0, or per_minute 0 for no limit")
	}
	if h.MaxStreams < 1 {
		bad("max_streams", "must be at least 1, not %d", h.MaxStreams)
	}
	return out
}
