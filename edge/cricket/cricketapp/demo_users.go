package cricketapp

import (
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/devlogin"
)

// demoUsers returns the followers of the match in the demo. The first one uses the page, and is an admin.
func demoUsers() []devlogin.User {
	return devlogin.InventUsers(auth.DefaultAdminGroup, "Asha Ben Chloe Dev")
}

// demoPhones returns their phones.
func demoPhones() []sandbox.Phone {
	phones := []sandbox.Phone{
		{Model: "iPhone 17 Pro", DeviceID: "asha-phone"}, {Model: "iPhone 16", DeviceID: "ben-phone", Dark: true},
		{Model: "iPhone 15", DeviceID: "chloe-phone"}, {Model: "iPhone SE", DeviceID: "dev-phone", Dark: true},
	}
	for i, u := range demoUsers() {
		phones[i].Name, phones[i].UserID = u.Name, u.Subject
	}
	return phones
}
