package migrations

import "slices"

// LAv2Names says how the old tables call what the new ones need. The old rows are documented nowhere, so every value
// has a list of names: the first that a row has counts. An attribute that has no name here is left behind.
type LAv2Names struct {
	Subscriptions SubscriptionNames `koanf:"subscriptions" json:"subscriptions"`
	Processing    ProcessingNames   `koanf:"processing" json:"processing"`
}

// SubscriptionNames are those of activity-subscriptions.
type SubscriptionNames struct {
	MatchID   []string `koanf:"match_id" json:"matchId"`
	UserID    []string `koanf:"user_id" json:"userId"`
	DeviceID  []string `koanf:"device_id" json:"deviceId"` // a row without it is its user's only device's
	Token     []string `koanf:"token" json:"token"`        // of the Live Activity
	Status    []string `koanf:"status" json:"status"`
	StartedAt []string `koanf:"started_at" json:"startedAt"`
	UpdatedAt []string `koanf:"updated_at" json:"updatedAt"` // of two rows for one session the later counts
	EndedAt   []string `koanf:"ended_at" json:"endedAt"`
	TTL       []string `koanf:"ttl" json:"ttl"`
}

// ProcessingNames are those of match-processing-state.
type ProcessingNames struct {
	MatchID    []string `koanf:"match_id" json:"matchId"`
	Status     []string `koanf:"status" json:"status"`          // of the processing: idle, live, ended
	FeedStatus []string `koanf:"feed_status" json:"feedStatus"` // of the match, in the feed's words
	BallID     []string `koanf:"ball_id" json:"ballId"`
	Score      []string `koanf:"score" json:"score"`
	Cooldowns  []string `koanf:"cooldowns" json:"cooldowns"`
	UpdatedAt  []string `koanf:"updated_at" json:"updatedAt"`
	TTL        []string `koanf:"ttl" json:"ttl"`
}

// DefaultLAv2Names are the names that the new tables have, and those that are likely for the old ones.
func DefaultLAv2Names() LAv2Names {
	match := []string{"matchId", "match_id", "fixtureId"}
	return LAv2Names{
		Subscriptions: SubscriptionNames{
			MatchID:   match,
			UserID:    []string{"userId", "user_id"},
			DeviceID:  []string{"deviceId", "device_id"},
			Token:     []string{"updateToken", "pushToken", "activityToken", "activityPushToken", "token"},
			Status:    []string{"status", "state", "active", "isActive"},
			StartedAt: []string{"sessionStartedAt", "startedAt", "subscribedAt", "createdAt"},
			UpdatedAt: []string{"updatedAt", "lastUpdatedAt"},
			EndedAt:   []string{"endedAt", "unsubscribedAt"},
			TTL:       []string{"ttl", "expiresAt"},
		},
		Processing: ProcessingNames{
			MatchID:    match,
			Status:     []string{"status", "state"},
			FeedStatus: []string{"previousStatus", "lastStatus", "matchStatus"},
			BallID:     []string{"previousBallId", "lastBallId", "lastProcessedBallId"},
			Score:      []string{"previousScore", "lastScore"},
			Cooldowns:  []string{"cooldowns"},
			UpdatedAt:  []string{"lastTickAt", "lastProcessedAt", "updatedAt"},
			TTL:        []string{"ttl", "expiresAt"},
		},
	}
}

// WithDefaults fills the lists that are empty.
func (n LAv2Names) WithDefaults() LAv2Names {
	d := DefaultLAv2Names()
	s, p := &n.Subscriptions, &n.Processing
	for _, f := range []struct{ have, or *[]string }{
		{&s.MatchID, &d.Subscriptions.MatchID}, {&s.UserID, &d.Subscriptions.UserID},
		{&s.DeviceID, &d.Subscriptions.DeviceID}, {&s.Token, &d.Subscriptions.Token},
		{&s.Status, &d.Subscriptions.Status}, {&s.StartedAt, &d.Subscriptions.StartedAt},
		{&s.UpdatedAt, &d.Subscriptions.UpdatedAt}, {&s.EndedAt, &d.Subscriptions.EndedAt},
		{&s.TTL, &d.Subscriptions.TTL}, {&p.MatchID, &d.Processing.MatchID}, {&p.Status, &d.Processing.Status},
		{&p.FeedStatus, &d.Processing.FeedStatus}, {&p.BallID, &d.Processing.BallID}, {&p.Score, &d.Processing.Score},
		{&p.Cooldowns, &d.Processing.Cooldowns}, {&p.UpdatedAt, &d.Processing.UpdatedAt}, {&p.TTL, &d.Processing.TTL},
	} {
		if len(*f.have) == 0 {
			*f.have = slices.Clone(*f.or)
		}
	}
	return n
}
