package replay

import "testing"

func TestEveryRecordingLoads(t *testing.T) {
	for _, in := range List() {
		if _, err := Load(in.ID); err != nil {
			t.Error(err)
		}
	}
}
