// Package auth identifies the caller: the user of a token of an issuer that the node trusts, or whoever has the API key.
// Tokens are ID tokens as Amazon Cognito makes them (JWT, RS256), or those of this node's own DevIssuer. The issuers'
// keys are kept, so that a node without the internet still knows its users.
package auth
