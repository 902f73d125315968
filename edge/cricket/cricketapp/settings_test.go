package cricketapp

import "testing"

func TestAppConfig(t *testing.T) {
	for _, tt := range []struct {
		app AppConfig
		bad string
	}{
		{AppConfig{}, ""},
		{AppConfig{MinVersion: "2.14.0", StoreURL: "https://apps.apple.com/app/id123456789", Maintenance: true}, ""},
		{AppConfig{MinVersion: "2"}, ""},
		{AppConfig{MinVersion: "v2"}, "app.min_version"},
		{AppConfig{MinVersion: "2..1"}, "app.min_version"},
		{AppConfig{MinVersion: "1.2.3.4.5"}, "app.min_version"},
		{AppConfig{MinVersion: "latest"}, "app.min_version"},
		{AppConfig{StoreURL: "http://apps.example/x"}, "app.store_url"},
		{AppConfig{StoreURL: "itms-apps://x"}, "app.store_url"},
	} {
		c := DefaultSettings()
		c.App = tt.app
		problems := c.Problems()
		if len(problems) > 1 || (len(problems) == 1) != (tt.bad != "") || len(problems) == 1 && problems[0].Key != tt.bad {
			t.Errorf("%+v: %v, want %q", tt.app, problems, tt.bad)
		}
	}
}
