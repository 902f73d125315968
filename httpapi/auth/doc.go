// Package auth identifies the caller of a request: the user of a token from a trusted issuer, or the holder of the API key. Tokens are
// JWTs of OpenID Connect issuers, Amazon Cognito among them, or of this node's own DevIssuer. The issuers' keys are stored, so that a
// node without the internet still recognizes its users.
package auth
