package backoff_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/backoff"
)

func TestDelay(t *testing.T) {
	p := backoff.Policy{Base: 500 * time.Millisecond, Max: 8 * time.Second, Floor: 250 * time.Millisecond}
	tests := []struct {
		name    string
		policy  backoff.Policy
		attempt int
		random  float64
		want    time.Duration
	}{
		{"the floor holds when the dice say nothing", p, 0, 0, 250 * time.Millisecond},
		{"first, half way", p, 0, 0.5, 375 * time.Millisecond},
		{"third, half way", p, 2, 0.5, 1125 * time.Millisecond},
		{"the ceiling", p, 4, 0.5, 4125 * time.Millisecond},
		{"far beyond the ceiling", p, 63, 0.5, 4125 * time.Millisecond},
		{"beyond every shift", p, 1 << 40, 0.5, 4125 * time.Millisecond},
		{"a negative attempt is the first", p, -1, 0.5, 375 * time.Millisecond},
		{"no floor", backoff.Policy{Base: time.Second, Max: time.Minute}, 0, 0, 0},
		{"a floor above the ceiling", backoff.Policy{Base: 1, Max: 1, Floor: time.Second}, 3, 0.9, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.policy.Delay(tt.attempt, tt.random); got != tt.want {
				t.Errorf("Delay(%d, %v) = %v, want %v", tt.attempt, tt.random, got, tt.want)
			}
		})
	}
}

// A wait is never below the floor or above the ceiling, whatever the attempt: no overflow, no hot loop.
func TestDelayStaysInBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		floor := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "floor"))
		ceiling := time.Duration(rapid.Int64Range(int64(floor), int64(48*time.Hour)).Draw(t, "max"))
		base := time.Duration(rapid.Int64Range(0, int64(ceiling)).Draw(t, "base"))
		p := backoff.Policy{Base: base, Max: ceiling, Floor: floor}
		d := p.Delay(rapid.Int().Draw(t, "attempt"), rapid.Float64Range(0, 0.999999999).Draw(t, "random"))
		if d < floor || d > ceiling {
			t.Fatalf("Delay = %v, outside %v..%v", d, floor, ceiling)
		}
	})
}
