package sigv4

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	algorithm   = "AWS4-HMAC-SHA256"
	terminator  = "aws4_request"
	service     = "dynamodb"
	stampLayout = "20060102T150405Z"
	skew        = 15 * time.Minute
)

// claim is what a request states about its signature.
type claim struct {
	algorithm  string
	credential string
	signed     []string // header names in lower case, sorted
	signature  string   // hexadecimal
	stamp      string   // as sent
	hasToken   bool

	id, date, region string // parts of the credential
}

// claimOf reads the claim from the Authorization header.
func claimOf(r *http.Request) (*claim, *Error) {
	header := strings.TrimSpace(r.Header.Get("Authorization"))
	if !strings.HasPrefix(header, "AWS4-") {
		return nil, errMissing()
	}
	c := &claim{hasToken: r.Header.Get("X-Amz-Security-Token") != ""}
	var rest string
	c.algorithm, rest, _ = strings.Cut(header, " ")
	var signed string
	for part := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == ',' || r == ' ' }) {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return nil, errIncomplete("'%s' not a valid key=value pair (missing equal-sign) in Authorization header: '%s'.",
				part, header)
		}
		switch name {
		case "Credential":
			c.credential = value
		case "Signature":
			c.signature = value
		case "SignedHeaders":
			signed = value
		}
	}
	c.stamp = cmp.Or(r.Header.Get("X-Amz-Date"), r.Header.Get("Date"))
	var missing strings.Builder
	for _, p := range [...]struct{ name, value string }{{"Credential", c.credential}, {"Signature", c.signature}, {"SignedHeaders", signed}} {
		if p.value == "" {
			missing.WriteString("Authorization header requires '" + p.name + "' parameter. ")
		}
	}
	if c.stamp == "" {
		missing.WriteString("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ")
	}
	if missing.Len() > 0 {
		return nil, errIncomplete("%sAuthorization=%s", missing.String(), header)
	}
	c.sign(signed)
	return c, nil
}

func (c *claim) sign(headers string) {
	c.signed = strings.Split(strings.ToLower(headers), ";")
	slices.Sort(c.signed)
	c.signed = slices.Compact(c.signed)
}

// current checks the time, and converts the stamp to the basic format of ISO 8601.
func (c *claim) current(now time.Time) *Error {
	at, err := time.Parse(stampLayout, c.stamp)
	if err != nil {
		if at, err = http.ParseTime(c.stamp); err == nil { // the header Date
			at = at.UTC()
			c.stamp = at.Format(stampLayout)
		}
	}
	if err != nil {
		return errIncomplete("Date must be in ISO-8601 'basic format'. Got '%s'. See http://en.wikipedia.org/wiki/ISO_8601", c.stamp)
	}
	now = now.UTC().Truncate(time.Second)
	stamp := func(t time.Time) string { return t.Format(stampLayout) }
	if oldest := now.Add(-skew); at.Before(oldest) {
		return errInvalid("Signature expired: %s is now earlier than %s (%s - 15 min.)", stamp(at), stamp(oldest), stamp(now))
	}
	if newest := now.Add(skew); at.After(newest) {
		return errInvalid("Signature not yet current: %s is still later than %s (%s + 15 min.)", stamp(at), stamp(newest), stamp(now))
	}
	return nil
}

// headersSigned refuses a request if unsigned headers would let somebody on the way change its target or meaning.
func (c *claim) headersSigned(h http.Header) *Error {
	if _, ok := slices.BinarySearch(c.signed, "host"); !ok {
		return errInvalid("'Host' must be a 'SignedHeader' in the AWS Authorization.")
	}
	first := ""
	for name := range h {
		if len(name) < 6 || !strings.EqualFold(name[:6], "X-Amz-") {
			continue
		}
		if _, ok := slices.BinarySearch(c.signed, strings.ToLower(name)); !ok && (first == "" || name < first) {
			first = name
		}
	}
	if first != "" {
		return errInvalid("'%s' must be a 'SignedHeader' in the AWS Authorization.", first)
	}
	return nil
}

// scope parses the credential: key, date, region, service, terminator.
func (c *claim) scope() *Error {
	if c.algorithm != algorithm {
		return errIncomplete("Unsupported AWS 'algorithm': '%s' (only %s for now). ", c.algorithm, algorithm)
	}
	parts := strings.Split(strings.TrimRight(c.credential, "/"), "/")
	if len(parts) != 5 {
		return errIncomplete("Credential must have exactly 5 slash-delimited elements, "+
			"e.g. keyid/date/region/service/term, got '%s'", c.credential)
	}
	c.id, c.date, c.region = parts[0], parts[1], parts[2]
	var wrong []string
	if c.region == "" {
		wrong = append(wrong, "Credential should be scoped to a valid region, not ''.")
	}
	if parts[3] != service {
		wrong = append(wrong, "Credential should be scoped to correct service: '"+service+"'.")
	}
	if parts[4] != terminator {
		wrong = append(wrong, "Credential should be scoped with a valid terminator: '"+terminator+"', not '"+parts[4]+"'.")
	}
	if c.date != c.stamp[:8] {
		wrong = append(wrong, "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '"+
			c.date+"' != '"+c.stamp[:8]+"', from '"+c.stamp+"'.")
	}
	if len(wrong) > 0 {
		return errInvalid("%s", strings.Join(wrong, " "))
	}
	return nil
}

// AccessKey returns the access key id that a request claims, for logs without verification; empty: none, or not suitable for a log.
func AccessKey(r *http.Request) string {
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	id, _, whole := strings.Cut(credential, "/")
	if !whole || !goodID(id) {
		return ""
	}
	return id
}
