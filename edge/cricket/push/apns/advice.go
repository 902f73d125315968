package apns

// Advice explains an answer in plain words, and what to do about it.
func Advice(reason string) string {
	if text, ok := advice()[reason]; ok {
		return text
	}
	return "Apple answered with a reason that this version does not know: see Apple's page on APNs responses."
}

func advice() map[string]string {
	const (
		clock = "Check this machine's clock (NTP) first: provider tokens carry the time, and with a clock an hour off none of them is valid."
		ours  = "This is a fault of the program and not of the configuration: please report it."
		again = "Apple's service has a problem; nothing is wrong here. The push is tried again."
	)
	return map[string]string{ //nolint:gosec // advice about keys, and none of them
		"BadDeviceToken": "The tokens are not of this environment: apps from Xcode have tokens of https://api.sandbox.push.apple.com, " +
			"apps from TestFlight and the App Store of https://api.push.apple.com. Check cricket.push.host.",
		"DeviceTokenNotForTopic":      "The tokens belong to another app: check cricket.push.bundle_id.",
		"BadTopic":                    "Apple does not accept the topic: check cricket.push.bundle_id.",
		"TopicDisallowed":             "The key may not push to this app: check cricket.push.bundle_id, cricket.push.team_id, and the topics of the key.",
		"InvalidProviderToken":        "Apple does not accept the key: cricket.push.key_id must be the id of cricket.push.key, and cricket.push.team_id that of its team; the key must not be revoked. " + clock,
		"ExpiredProviderToken":        "Apple calls a fresh provider token expired. " + clock,
		"MissingProviderToken":        ours,
		"BadCertificate":              "Something between this machine and Apple presents a certificate: check the proxy.",
		"BadCertificateEnvironment":   "Something between this machine and Apple presents a certificate: check the proxy.",
		"BadEnvironmentKeyInToken":    "The key is limited to the other environment: check cricket.push.host, or make a key for both at developer.apple.com.",
		"UnrelatedKeyIdInToken":       "The key belongs to a different team than the previous one on this connection: check cricket.push.key_id and cricket.push.team_id.",
		"Forbidden":                   "Apple forbids this to the key: check at developer.apple.com what it is limited to.",
		"TooManyProviderTokenUpdates": "The credentials are right, but another process has recently made a provider token with the same key, or this one restarts without its data directory: Apple accepts a new one only every 20 minutes. It is tried again then.",
		"TooManyRequests":             "Too many pushes in a row went to the same device token. Nothing is wrong with the configuration: wait a moment.",
		"PayloadTooLarge":             ours,
		"FeatureNotEnabled":           "Broadcast is not switched on for the app: developer.apple.com, identifiers, the app, Push Notifications, Broadcast capability. Or set cricket.push.channels to false.",
		"CannotCreateChannelConfig":   "The app has as many broadcast channels as Apple allows. Delete some in the Push Notifications Console.",
		"Unregistered":                "The app is no longer on that phone, or the activity has ended.",
		"ExpiredToken":                "The activity has ended, or its token was replaced.",
		"InternalServerError":         again,
		"ServiceUnavailable":          again,
		"Shutdown":                    again,
		ReasonNoAnswer:                "Check that this machine reaches cricket.push.host and its port (firewall, proxy, DNS).",
		ReasonNotApple:                "Something other than Apple answered: a proxy, or the page of a network that wants a sign-in.",
		ReasonNoBearer:                "There is no provider token to send with: check cricket.push.key; or Apple accepts no new one for 20 minutes.",
		ReasonCircuitOpen:             "Many pushes in a row failed; nothing is sent for a moment.",
	}
}
