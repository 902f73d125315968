// Package route53 simulates the part of Route 53's API that a node uses: two pages of zones, and record sets, where an UPSERT replaces a
// whole set and a DELETE must match it exactly.
package route53

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// KeyID is the only accepted access key.
const KeyID = "AKID"

// Server is an account with the public zones example.org and other.example and a private zone. Set its fields before it serves.
type Server struct {
	T       testing.TB
	Pending int                                                       // how often a change is reported as pending
	Changed func(r *http.Request, name string, values []string) error // gets a name's values before a change is answered; may be nil

	mu   sync.Mutex
	sets map[string]Set
}

// Set is the TXT records of a name. Values are quoted.
type Set struct {
	XMLName xml.Name `xml:"ResourceRecordSet"`
	Name    string   `xml:"Name"`
	Type    string   `xml:"Type"`
	TTL     int64    `xml:"TTL"`
	Values  []string `xml:"ResourceRecords>ResourceRecord>Value"`
}

type change struct {
	XMLName xml.Name `xml:"https://route53.amazonaws.com/doc/2013-04-01/ ChangeResourceRecordSetsRequest"`
	Changes []struct {
		Action string `xml:"Action"`
		Set    Set    `xml:"ResourceRecordSet"`
	} `xml:"ChangeBatch>Changes>Change"`
}

// Values returns the values of a name.
func (s *Server) Values(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sets[name].Values)
}

// Put sets the values of a name.
func (s *Server) Put(name string, values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(Set{Name: name, Type: "TXT", TTL: 60, Values: values})
}

func (s *Server) put(set Set) {
	if s.sets == nil {
		s.sets = map[string]Set{}
	}
	s.sets[set.Name] = set
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if who := r.Header.Get("Authorization"); !strings.Contains(who, "Credential="+KeyID+"/") || !strings.Contains(who, "/us-east-1/route53/aws4_request") {
		refuse(w, http.StatusForbidden, "InvalidClientTokenId")
		return
	}
	switch path := r.Method + " " + r.URL.Path; {
	case path == "GET /2013-04-01/hostedzone" && r.FormValue("marker") == "":
		fmt.Fprint(w, `<ListHostedZonesResponse><HostedZones><HostedZone><Id>/hostedzone/ZPRIVATE</Id><Name>private.example.</Name><Config><PrivateZone>true</PrivateZone></Config></HostedZone>`+
			`<HostedZone><Id>/hostedzone/Z1</Id><Name>example.org.</Name></HostedZone></HostedZones><IsTruncated>true</IsTruncated><NextMarker>Z2</NextMarker></ListHostedZonesResponse>`)
	case path == "GET /2013-04-01/hostedzone":
		fmt.Fprint(w, `<ListHostedZonesResponse><HostedZones><HostedZone><Id>/hostedzone/Z2</Id><Name>other.example.</Name></HostedZone></HostedZones></ListHostedZonesResponse>`)
	case path == "GET /2013-04-01/hostedzone/Z1/rrset": // the first set at or after the name
		found := Set{Name: "zzz.example.org.", Type: "TXT"}
		if set, ok := s.sets[r.FormValue("name")]; ok {
			found = set
		}
		raw, err := xml.Marshal(found)
		if err != nil {
			s.T.Error(err)
		}
		fmt.Fprintf(w, `<ListResourceRecordSetsResponse><ResourceRecordSets>%s</ResourceRecordSets></ListResourceRecordSetsResponse>`, raw)
	case path == "POST /2013-04-01/hostedzone/Z1/rrset/":
		s.change(w, r)
	case path == "GET /2013-04-01/change/C1":
		s.Pending--
		fmt.Fprintf(w, `<GetChangeResponse>%s</GetChangeResponse>`, s.state())
	default:
		s.T.Errorf("it was asked %s", path)
		refuse(w, http.StatusNotFound, "NoSuchPath")
	}
}

func (s *Server) state() string {
	status := "INSYNC"
	if s.Pending > 0 {
		status = "PENDING"
	}
	return `<ChangeInfo><Id>/change/C1</Id><Status>` + status + `</Status></ChangeInfo>`
}

func (s *Server) change(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var c change
	if err := errors.Join(err, xml.Unmarshal(raw, &c)); err != nil || len(c.Changes) != 1 {
		s.T.Errorf("%s: %v", raw, err)
		refuse(w, http.StatusBadRequest, "MalformedInput")
		return
	}
	set := c.Changes[0].Set
	if set.Type != "TXT" || set.TTL != 60 {
		s.T.Errorf("%s", raw)
	}
	was := s.sets[set.Name].Values
	is := set.Values
	switch action := c.Changes[0].Action; {
	case action == "UPSERT":
		s.put(set)
	case action == "DELETE" && slices.Equal(was, set.Values):
		delete(s.sets, set.Name)
		is = nil
	default:
		refuse(w, http.StatusBadRequest, "InvalidChangeBatch")
		return
	}
	if s.Changed != nil {
		if err := s.Changed(r, set.Name, is); err != nil {
			s.T.Error(err)
		}
	}
	fmt.Fprintf(w, `<ChangeResourceRecordSetsResponse>%s</ChangeResourceRecordSetsResponse>`, s.state())
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `<ErrorResponse><Error><Code>%s</Code><Message>no</Message></Error></ErrorResponse>`, code)
}
