package httpapi

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"
	"text/template"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/internal/fault"
)

// pathCA is where devices fetch the node's CA, by plain HTTP too, since they do not trust its HTTPS yet. They show the fingerprint, to
// be compared with the one that touchline tls init printed.
const pathCA = "/_/tls"

func (s *Server) caRoutes() []Route {
	return []Route{
		{Method: "GET", Path: pathCA, Access: Public, Do: s.withCA(s.getCAPage)},
		{Method: "GET", Path: pathCA + "/ca.crt", Access: Public, Do: s.withCA(func(c *gin.Context, ca *certs.CA) error {
			return download(c, "touchline-ca.crt", "application/x-x509-ca-cert", ca.Cert.Raw)
		})},
		{Method: "GET", Path: pathCA + "/ca.mobileconfig", Access: Public, Do: s.withCA(getCAProfile)},
	}
}

// withCA passes the node's own CA to a handler. Without one it is a 404.
func (s *Server) withCA(do func(c *gin.Context, ca *certs.CA) error) Handler {
	return func(c *gin.Context) error {
		if s.cfg.TLS == nil || s.cfg.TLS.CA == nil {
			return fault.New(fault.NotFound, "no_ca", "This node has no CA of its own: there is nothing to install.")
		}
		return do(c, s.cfg.TLS.CA)
	}
}

func (s *Server) getCAPage(c *gin.Context, ca *certs.CA) error {
	at := s.lanAddress(c.Request)
	body, err := s.pages.CA(page.CAInput{
		Address: "http://" + at + pathCA, Secure: "https://" + at + "/", Title: ca.Title(), Fingerprint: ca.Fingerprint(),
		Until: ca.Cert.NotAfter.Format("2 January 2006"), Trusted: c.Request.TLS != nil,
	})
	return HTML(c, http.StatusOK, body, err)
}

// download answers with a file download.
func download(c *gin.Context, name, kind string, body []byte) error {
	c.Header("Content-Disposition", `attachment; filename="`+name+`"`)
	c.Header("Cache-Control", "no-store")
	c.Data(http.StatusOK, kind, body)
	return nil
}

// profile is an Apple configuration profile with the CA. Its ids derive from the certificate, so installing it again replaces it.
var profile = template.Must(template.New("profile").Parse(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>PayloadType</key><string>Configuration</string><key>PayloadVersion</key><integer>1</integer>
<key>PayloadIdentifier</key><string>touchline.{{.Outer}}</string><key>PayloadUUID</key><string>{{.Outer}}</string>
<key>PayloadDisplayName</key><string>{{html .Title}}</string>
<key>PayloadDescription</key><string>Trusts this node in its local network.</string>
<key>PayloadContent</key><array><dict>
<key>PayloadType</key><string>com.apple.security.root</string><key>PayloadVersion</key><integer>1</integer>
<key>PayloadIdentifier</key><string>touchline.{{.Inner}}</string><key>PayloadUUID</key><string>{{.Inner}}</string>
<key>PayloadDisplayName</key><string>{{html .Title}}</string><key>PayloadContent</key><data>{{.Content}}</data>
</dict></array></dict></plist>
`))

func getCAProfile(c *gin.Context, ca *certs.CA) error {
	id := func(of string) string {
		return strings.ToUpper(uuid.NewSHA1(uuid.NameSpaceOID, append([]byte(of), ca.Cert.Raw...)).String())
	}
	var out bytes.Buffer
	err := profile.Execute(&out, map[string]string{
		"Outer": id("profile"), "Inner": id("root"), "Title": ca.Title(), "Content": base64.StdEncoding.EncodeToString(ca.Cert.Raw),
	})
	if err != nil {
		return err
	}
	return download(c, "touchline-ca.mobileconfig", "application/x-apple-aspen-config", out.Bytes())
}
