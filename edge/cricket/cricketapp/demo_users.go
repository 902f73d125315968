package cricketapp

import "github.com/touchline/touchline/edge/cricket/push/sandbox"

// demoUser is the one who looks: one of those whose phones the demo shows.
const demoUser = "demo-asha"

// demoPhones are the people who follow the match in the demo.
func demoPhones() []sandbox.Phone {
	return []sandbox.Phone{
		{Name: "Asha", Model: "iPhone 17 Pro", UserID: demoUser, DeviceID: "asha-phone"},
		{Name: "Ben", Model: "iPhone 16", UserID: "demo-ben", DeviceID: "ben-phone", Dark: true},
		{Name: "Chloe", Model: "iPhone 15", UserID: "demo-chloe", DeviceID: "chloe-phone"},
		{Name: "Dev", Model: "iPhone SE", UserID: "demo-dev", DeviceID: "dev-phone", Dark: true},
	}
}
