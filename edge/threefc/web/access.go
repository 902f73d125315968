package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/store"
)

// joinsAMinute limits how often a client may use a join code.
const joinsAMinute = 20

func (a *api) accessRoutes() []route {
	s := a.Service
	return []route{
		// The code alone lets a player join, without an account.
		{"POST", "/v1/join/:code", public, writes(http.StatusCreated, a.readJoin, func(tx *store.Tx, r *request, name string) (threefc.Change, error) {
			return s.AddPlayer(tx, r.of.ID, "", name, r.ids)
		}, func(tx *store.Tx, r *request) (any, error) {
			p, err := a.player(tx, r.made["player"])
			return map[string]any{"gameId": r.of.ID, "joinCode": r.given, "player": p}, err
		})},
		{"GET", "/v1/leagues/:league/access", admin, listsPage("access", s.AccessList)},
		{"POST", "/v1/leagues/:league/access", admin, writes(http.StatusOK, readGrant, func(tx *store.Tx, r *request, in [2]string) (threefc.Change, error) {
			return s.Grant(tx, r.league, r.User, in[0], in[1])
		}, func(tx *store.Tx, r *request) (any, error) { return s.Access(tx, r.league, r.made["user"]) })},
		{"POST", "/v1/leagues/:league/access/accept", mailed, writes(http.StatusOK, nothing, func(tx *store.Tx, r *request, _ any) (threefc.Change, error) {
			return s.AcceptRole(tx, r.of.ID, r.User)
		}, func(tx *store.Tx, r *request) (any, error) { return s.Access(tx, r.of.ID, r.User) })},
		{"POST", "/v1/leagues/:league/organiser-invites", admin, writes(http.StatusCreated, readInvite, a.invite, a.answerInvite)},
		{"POST", "/v1/invites/:code/accept", mailed, writes(http.StatusOK, func(r *request, _ *bind.Body) (any, error) {
			return nil, r.checkInvite()
		}, func(tx *store.Tx, r *request, _ any) (threefc.Change, error) {
			return s.AcceptInvite(tx, r.given, r.User)
		}, a.answerAccepted)},
	}
}

// readJoin reads a nickname.
func (a *api) readJoin(r *request, b *bind.Body) (string, error) {
	if err := a.joins(r.Context); err != nil {
		return "", err
	}
	return nickname(b), r.joins()
}

// readGrant reads the user and role of a grant.
func readGrant(_ *request, b *bind.Body) (in [2]string, err error) {
	user, role := strings.ToLower(text(b, "userId")), text(b, "role")
	if role != "" && role != threefc.RoleAdmin && role != threefc.RoleScorekeeper {
		b.Bad("role", "must be admin or scorekeeper")
	}
	if user != "" && !threefc.IsID(user) {
		b.Bad("userId", "must be 1 to 128 bytes without #")
	}
	return [2]string{user, role}, nil
}

// readInvite reads the address that an invite is for; empty for a reusable invite.
func readInvite(_ *request, b *bind.Body) (address string, err error) {
	if given := optional(b, "email"); given != nil {
		return threefc.Email(*given)
	}
	return "", nil
}

func (a *api) inviteLink(r *request, code string) string { return a.link(r, "/-/invites/"+code, nil) }

// mails reports whether the node can send mail with links: it needs a mail queue and a public URL.
func (a *api) mails() bool { return a.Queue != nil && a.PublicURL != "" }

func (a *api) invite(tx *store.Tx, r *request, address string) (c threefc.Change, err error) {
	if err := a.invites.countOne(r.User, tx.Now()); err != nil {
		return c, err
	}
	c, err = a.Service.CreateInvite(tx, r.league, r.User, address)
	switch {
	case err != nil || address == "":
		return c, err
	case !a.mails():
		r.Status = http.StatusAccepted
		return c, nil
	}
	l, err := a.Service.League(tx, r.league)
	if err != nil {
		return c, err
	}
	return c, a.Queue(tx, threefc.InviteMail(address, l, a.inviteLink(r, c.IDs["invite"]), httpapi.Client(r.Context)))
}

// answerInvite returns an invite with its link, and whether a mail is on its way.
func (a *api) answerInvite(tx *store.Tx, r *request) (any, error) {
	in, err := a.Service.Invite(tx, r.made["invite"])
	if err != nil {
		return nil, err
	}
	var delivery any
	if in.Email != nil {
		delivery = map[bool]string{true: "queued", false: "unavailable"}[a.mails()]
	}
	return map[string]any{"invite": in, "inviteCode": in.InviteCode, "inviteLink": a.inviteLink(r, in.InviteCode), "emailDelivery": delivery}, nil
}

func (a *api) answerAccepted(tx *store.Tx, r *request) (any, error) {
	in, err := a.Service.Invite(tx, r.given)
	if err != nil {
		return nil, err
	}
	access, err := a.Service.Access(tx, in.LeagueID, r.User)
	return map[string]any{"invite": in, "access": access, "inviteLink": a.link(r, "/-/leagues/"+url.PathEscape(in.LeagueID), nil)}, err
}
