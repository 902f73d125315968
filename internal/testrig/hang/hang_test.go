package hang

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestScaled(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		0: time.Minute, reference / 2: time.Minute, reference: time.Minute, 3 * reference: 3 * time.Minute,
		slowest * reference: slowest * time.Minute, time.Hour: slowest * time.Minute,
	} {
		if got := scaled(time.Minute, took); got != want {
			t.Errorf("work of %v: %v, want %v", took, got, want)
		}
	}
}

func TestLimit(t *testing.T) {
	if got := Limit(time.Minute); got < time.Minute || got > slowest*time.Minute {
		t.Errorf("a minute became %v", got)
	}
	synctest.Test(t, func(t *testing.T) {
		if got := Limit(time.Minute); got != time.Minute {
			t.Errorf("a minute became %v in virtual time", got)
		}
	})
	t.Logf("the work took %v", measure())
}
