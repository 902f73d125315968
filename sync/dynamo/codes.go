package dynamo

import (
	"strings"

	"github.com/touchline/touchline/sync/replica/intent"
)

// classes sorts DynamoDB's error codes, without the "Exception" or "Error" at their end, which one and the same error has
// in some places and not in others. A code that is not here is Unknown: the call may have been carried out.
var classes = map[string]intent.Class{
	"ConditionalCheckFailed": intent.ConditionFailed,
	"TransactionCanceled":    intent.Canceled,

	// Carried out or not, or being carried out at this moment.
	"TransactionInProgress":       intent.Unknown,
	"IdempotentParameterMismatch": intent.Unknown,
	"InternalServer":              intent.Unknown,
	"InternalFailure":             intent.Unknown,
	"ServiceUnavailable":          intent.Unknown,

	// Not carried out, and later it may be. The last of AWS's global tables: another region changes the item just now.
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

	// The signature: keys, their session, or the clock.
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

// classOf sorts a code and the message that came with it. The message is looked at for one thing, for which DynamoDB has
// no code: an item that would pass 400 KB.
func classOf(code, message string) intent.Class {
	c := classes[bare(code)]
	if c == intent.Validation && strings.Contains(message, "exceeded the maximum allowed size") {
		return intent.TooLarge
	}
	return c
}

// bare takes a code's namespace and ending off: "com.amazonaws.dynamodb.v20120810#ThrottlingException" is "Throttling".
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
