package sigv4

import (
	"fmt"
	"net/http"
)

// namespace is the namespace of all types of Error.
const namespace = "com.amazon.coral.service#"

// Error is a refusal in the service's words.
type Error struct {
	Status  int    // HTTP status
	Type    string // with namespace
	Message string
}

// Error returns the type and message.
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

// errMismatch shows what should have been signed, as the service does: all of it comes from the client.
func errMismatch(canonical, toSign string) *Error {
	return errInvalid("The request signature we calculated does not match the signature you provided. "+
		"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.\n\n"+
		"The Canonical String for this request should have been\n'%s'\n\nThe String-to-Sign should have been\n'%s'\n",
		canonical, toSign)
}
