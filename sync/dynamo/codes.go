package dynamo

import (
	"strings"

	"github.com/touchline/touchline/sync/replica/intent"
)

// classes maps DynamoDB's error codes to classes. The codes lack their final "Exception" or "Error", which the same error has in
// some places and not in others. A code that is not listed is Unknown: the call may have been carried out.
var classes = map[string]intent.Class{
	"ConditionalCheckFailed": intent.ConditionFailed,
	"TransactionCanceled":    intent.Canceled,

	// These may have been carried out, or are being carried out now.
	"TransactionInProgress":       intent.Unknown,
	"IdempotentParameterMismatch": intent.Unknown,
	"InternalServer":              intent.Unknown,
	"InternalFailure":             intent.Unknown,
	"ServiceUnavailable":          intent.Unknown,

	// These were not carried out and may succeed later. The last one is from global tables: another region is changing the item.
	"ProvisionedThroughputExceeded": intent.Throttled,
	"Throttling":                    intent.Throttled,
	"Throttled":                     intent.Throttled,
	"RequestLimitExceeded":          intent.Throttled,
	"RequestThrottled":              intent.Throttled,
	"TooManyRequests":               intent.Throttled,
	"LimitExceeded":                 intent.Throttled,
	"BandwidthLimitExceeded":        intent.Throttled,
	"PriorRequestNotComplete":       intent.Throttled,
	"SlowDown":                      intent.Throttled,
	"TransactionConflict":           intent.Throttled,
	"ResourceInUse":                 intent.Throttled,
	"TableInUse":                    intent.Throttled,
	"ReplicatedWriteConflict":       intent.Throttled,

	// These concern the signature: the keys, their session, or the clock.
	"ExpiredToken":          intent.Credentials,
	"TokenRefreshRequired":  intent.Credentials,
	"UnrecognizedClient":    intent.Credentials,
	"InvalidClientTokenId":  intent.Credentials,
	"InvalidAccessKeyId":    intent.Credentials,
	"InvalidSignature":      intent.Credentials,
	"SignatureDoesNotMatch": intent.Credentials,
	"IncompleteSignature":   intent.Credentials,
	"MissingAuthentication": intent.Credentials, // ...TokenException
	"AuthFailure":           intent.Credentials,
	"RequestExpired":        intent.Credentials,
	"RequestTimeTooSkewed":  intent.Credentials,
	"RequestInTheFuture":    intent.Credentials,
	"OptInRequired":         intent.Credentials,

	"Validation":    intent.Validation,
	"Serialization": intent.Validation,

	"ItemCollectionSizeLimitExceeded": intent.TooLarge,

	"ResourceNotFound": intent.NoTable,
	"TableNotFound":    intent.NoTable,

	"AccessDenied":          intent.Denied,
	"UnauthorizedOperation": intent.Denied,
	"NotAuthorized":         intent.Denied,
	"KMSAccessDenied":       intent.Denied,
}

// classOf returns the class of a code. It looks into the message for one case that has no code of its own: an item that would
// exceed 400 KB.
func classOf(code, message string) intent.Class {
	c := classes[bare(code)]
	if c == intent.Validation && strings.Contains(message, "exceeded the maximum allowed size") {
		return intent.TooLarge
	}
	return c
}

// bare strips a code's namespace and ending: "com.amazonaws.dynamodb.v20120810#ThrottlingException" becomes "Throttling".
func bare(code string) string {
	code = code[strings.LastIndexByte(code, '#')+1:]
	code, _, _ = strings.Cut(code, ":")
	for _, end := range []string{"Exception", "Error", "Token"} {
		if rest := strings.TrimSuffix(code, end); rest != "Expired" {
			code = rest
		}
	}
	return code
}
