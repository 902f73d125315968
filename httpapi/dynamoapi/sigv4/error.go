package sigv4

import (
	"fmt"
	"net/http"
)

// namespace is that of all the types of Error.
const namespace = "com.amazon.coral.service#"

// Error is why a request is not done, in the service's words.
type Error struct {
	Status  int    // of HTTP
	Type    string // with its namespace
	Message string
}

// Error is the type and the message.
func (r *Error) Error() string { return r.Type[len(namespace):] + ": " + r.Message }

func refuse(kind, format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Type: namespace + kind, Message: fmt.Sprintf(format, args...)}
}

func errIncomplete(format string, args ...any) *Error {
	return refuse("IncompleteSignatureException", format, args...)
}

func errInvalid(format string, args ...any) *Error {
	return refuse("InvalidSignatureException", format, args...)
}

func errMissing() *Error {
	return refuse("MissingAuthenticationTokenException", "Request is missing Authentication Token")
}

func errUnrecognized() *Error {
	return refuse("UnrecognizedClientException", "The security token included in the request is invalid.")
}

// errMismatch returns what was signed here, as the service does: nothing in it is not the client's own.
func errMismatch(canonical, toSign string) *Error {
	return errInvalid("The request signature we calculated does not match the signature you provided. "+
		"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.\n\n"+
		"The Canonical String for this request should have been\n'%s'\n\nThe String-to-Sign should have been\n'%s'\n",
		canonical, toSign)
}
