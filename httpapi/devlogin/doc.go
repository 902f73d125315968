// Package devlogin is an issuer (OpenID Connect) for development and tests, with a login page on which everybody may choose who
// to be. It signs with the key of auth.DevIssuer, and speaks to clients on this machine alone.
package devlogin
