// Package devlogin is an issuer (OpenID Connect) for development, demos and tests, with a login page on which everybody may choose
// who to be. It signs with the key of auth.DevIssuer, and speaks to clients on this machine alone.
//
// A node has it by auth.dev_login, with users from the file auth.dev_users. A demo gives its users to node.OpenDemoLogin, which
// serves the page on a loopback port of its own and tells the node of the issuer:
//
//	login, err := node.OpenDemoLogin(ctx, []devlogin.User{
//		{Subject: "demo-asha", Name: "Asha"},
//		{Subject: "demo-olga", Name: "Olga, an admin", Groups: []string{auth.DefaultAdminGroup}},
//	}, log)
//	defer login.Close()
//	n, err := node.Open(ctx, dir, node.Parts{Auth: login.Identity, ...})
//
// The node's page to sign in then leads to one with a button for each user. The demo itself must refuse an address that others
// can reach (node.LoopbackOnly).
package devlogin
