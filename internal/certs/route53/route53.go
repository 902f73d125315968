// Package route53 changes TXT records at Amazon Route 53, with the interfaces of libdns. It sends three kinds of requests to Route 53's
// API, signed by the core of the AWS SDK: the SDK's Route 53 client is larger than everything else that a node links of AWS.
package route53

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/libdns/libdns"

	"github.com/touchline/touchline/internal/clock"
)

const (
	region     = "us-east-1" // for signatures, wherever the zone is served
	namespace  = "https://route53.amazonaws.com/doc/2013-04-01/"
	maxAnswer  = 1 << 20
	within     = 15 * time.Second // time limit for a request
	spreadsIn  = 5 * time.Minute  // a change usually reaches Route 53's servers within a minute
	spreadLook = 3 * time.Second
)

// Provider is a Route 53 account. Its methods may be called from any goroutine.
type Provider struct {
	Endpoint    string
	Credentials aws.CredentialsProvider
	Clock       clock.Clock
	HTTP        *http.Client

	mu    sync.Mutex        // held while record sets are changed, until the servers have them: a set is read and written as a whole
	zones map[string]string // ids by name
}

// New returns a provider with the AWS settings of the machine: credentials from the environment, a file or the instance's role, and the
// endpoint in AWS_ENDPOINT_URL_ROUTE_53.
func New(ctx context.Context) (*Provider, error) {
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("AWS credentials: %w", err)
	}
	at := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_ROUTE_53"), "https://route53.amazonaws.com")
	return &Provider{Endpoint: at, Credentials: c.Credentials, Clock: clock.Real(), HTTP: &http.Client{Timeout: within}}, nil
}

// zonesAnswer is the answer to ListHostedZones.
type zonesAnswer struct {
	Zones []struct {
		ID      string `xml:"Id"`
		Name    string `xml:"Name"`
		Private bool   `xml:"Config>PrivateZone"`
	} `xml:"HostedZones>HostedZone"`
	Truncated bool   `xml:"IsTruncated"`
	Next      string `xml:"NextMarker"`
}

// ListZones implements libdns.ZoneLister. It returns the public zones.
func (p *Provider) ListZones(ctx context.Context) (out []libdns.Zone, err error) {
	found := map[string]string{}
	for marker := ""; ; {
		var page zonesAnswer
		if err := p.ask(ctx, http.MethodGet, "/2013-04-01/hostedzone?"+url.Values{"marker": {marker}}.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for _, z := range page.Zones {
			if _, twice := found[z.Name]; !z.Private && !twice {
				found[z.Name] = strings.TrimPrefix(z.ID, "/hostedzone/")
				out = append(out, libdns.Zone{Name: z.Name})
			}
		}
		if !page.Truncated || page.Next == "" {
			break
		}
		marker = page.Next
	}
	p.mu.Lock()
	p.zones = found
	p.mu.Unlock()
	return out, nil
}

// AppendRecords implements libdns.RecordAppender for TXT records. It returns once all servers of the zone have them.
func (p *Provider) AppendRecords(ctx context.Context, zone string, records []libdns.Record) ([]libdns.Record, error) {
	return records, p.each(ctx, zone, records, true)
}

// DeleteRecords implements libdns.RecordDeleter for TXT records. Other values of the same name stay.
func (p *Provider) DeleteRecords(ctx context.Context, zone string, records []libdns.Record) ([]libdns.Record, error) {
	return records, p.each(ctx, zone, records, false)
}

// recordSet is a Route 53 record set: all values of a name.
type recordSet struct {
	Name   string   `xml:"Name"`
	Type   string   `xml:"Type"`
	TTL    int64    `xml:"TTL"`
	Values []string `xml:"ResourceRecords>ResourceRecord>Value"`
}

type setsAnswer struct {
	Sets []recordSet `xml:"ResourceRecordSets>ResourceRecordSet"`
}

type changeRequest struct {
	XMLName xml.Name  `xml:"ChangeResourceRecordSetsRequest"`
	NS      string    `xml:"xmlns,attr"`
	Action  string    `xml:"ChangeBatch>Changes>Change>Action"`
	Set     recordSet `xml:"ChangeBatch>Changes>Change>ResourceRecordSet"`
}

type changeAnswer struct {
	ID     string `xml:"ChangeInfo>Id"`
	Status string `xml:"ChangeInfo>Status"`
}

// each adds each record to its record set, or removes it.
func (p *Provider) each(ctx context.Context, zone string, records []libdns.Record, hold bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.zones[zone]
	if id == "" {
		return fmt.Errorf("route 53: %s is not a zone of this account", zone)
	}
	for _, r := range records {
		rr := r.RR()
		if rr.Type != "TXT" {
			return errors.New("route 53: only TXT records can be changed")
		}
		set := recordSet{Name: libdns.AbsoluteName(rr.Name, zone), Type: "TXT", TTL: max(1, int64(rr.TTL.Seconds()))}
		if err := p.change(ctx, "/2013-04-01/hostedzone/"+url.PathEscape(id)+"/rrset", set, strconv.Quote(rr.Data), hold); err != nil {
			return err
		}
	}
	return nil
}

// change adds a value to the record set of a name, or removes it. A set is written as a whole; an empty one is deleted.
func (p *Provider) change(ctx context.Context, path string, set recordSet, value string, hold bool) error {
	var found setsAnswer
	q := url.Values{"name": {set.Name}, "type": {"TXT"}, "maxitems": {"1"}}
	if err := p.ask(ctx, http.MethodGet, path+"?"+q.Encode(), nil, &found); err != nil {
		return err
	}
	var was recordSet
	if len(found.Sets) == 1 && found.Sets[0].Name == set.Name && found.Sets[0].Type == "TXT" {
		was = found.Sets[0]
	}
	if slices.Contains(was.Values, value) == hold {
		return nil
	}
	set.Values = slices.DeleteFunc(slices.Clone(was.Values), func(v string) bool { return v == value })
	req := changeRequest{NS: namespace, Action: "UPSERT", Set: set}
	switch {
	case hold:
		req.Set.Values = append(set.Values, value)
	case len(set.Values) == 0:
		req.Action, req.Set = "DELETE", was
	}
	body, err := xml.Marshal(req)
	if err != nil {
		return err
	}
	var answer changeAnswer
	if err := p.ask(ctx, http.MethodPost, path+"/", body, &answer); err != nil || !hold {
		return err
	}
	return p.spread(ctx, answer)
}

// spread waits until all servers of a zone have a change.
func (p *Provider) spread(ctx context.Context, at changeAnswer) error {
	path := "/2013-04-01" + at.ID
	for end := p.Clock.Now().Add(spreadsIn); at.Status != "INSYNC"; {
		if !p.Clock.Now().Before(end) {
			return errors.New("route 53: the record has not reached all of its servers")
		}
		if err := clock.Sleep(ctx, p.Clock, spreadLook); err != nil {
			return err
		}
		if err := p.ask(ctx, http.MethodGet, path, nil, &at); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a signed request and parses its answer.
func (p *Provider) ask(ctx context.Context, method, path string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, p.Endpoint+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	who, err := p.Credentials.Retrieve(ctx)
	if err != nil {
		return fmt.Errorf("AWS credentials: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/xml")
	}
	sum := sha256.Sum256(body)
	if err := signer.NewSigner().SignHTTP(ctx, who, req, hex.EncodeToString(sum[:]), "route53", region, p.Clock.Wall()); err != nil {
		return err
	}
	resp, err := p.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		var refused struct {
			Code    string `xml:"Error>Code"`
			Message string `xml:"Error>Message"`
		}
		_ = xml.Unmarshal(raw, &refused) // unreadable details are left out
		return fmt.Errorf("route 53 answered %d %s: %s", resp.StatusCode, refused.Code, refused.Message)
	}
	return xml.Unmarshal(raw, into)
}
