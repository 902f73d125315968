// Package devlogin is an OpenID Connect issuer for development, demos and tests. Its login page lets everybody choose any user. It
// signs with the key of auth.DevIssuer, and serves only clients on this machine.
//
// A node starts it with auth.dev_login, and takes users from the file auth.dev_users. A demo lists its users in app.Demo; its node
// serves the page on a loopback port of its own:
//
//	demo := &app.Demo{App: New(), Short: "...", Users: []devlogin.User{
//		{Subject: "demo-asha", Name: "Asha"},
//		{Subject: "demo-olga", Name: "Olga, an admin", Groups: []string{auth.DefaultAdminGroup}},
//	}}
//	return app.Commands{Demo: demo}
//
// The node's sign-in page then leads to one with a button for each user.
package devlogin
