// Package devlogin is an issuer (OpenID Connect) for development, demos and tests, with a login page on which everybody may choose
// who to be. It signs with the key of auth.DevIssuer, and speaks to clients on this machine alone.
//
// A node has it by auth.dev_login, with users from the file auth.dev_users. A demo names its users in app.Demo; its node serves
// the page on a loopback port of its own:
//
//	demo := &app.Demo{App: New(), Short: "...", Users: []devlogin.User{
//		{Subject: "demo-asha", Name: "Asha"},
//		{Subject: "demo-olga", Name: "Olga, an admin", Groups: []string{auth.DefaultAdminGroup}},
//	}}
//	return app.Commands{Demo: demo}
//
// The node's page to sign in then leads to one with a button for each user.
package devlogin
