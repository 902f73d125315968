package threefc

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// joinsAMinute is how often a client may use a code to join.
const joinsAMinute = 20

func (a *api) accessRoutes() []route {
	return []route{
		{method: "POST", path: "/v1/join/:code", do: a.postJoin, perMinute: joinsAMinute},
		{method: "POST", path: "/v1/players/:player/claim", who: session, do: a.postClaim},
		{method: "GET", path: "/v1/players/:player", who: session, do: a.getPlayer},
		{method: "GET", path: "/v1/leagues/:league/access", who: admin, do: a.getAccess},
		{method: "POST", path: "/v1/leagues/:league/access", who: admin, do: a.postAccess},
		{method: "POST", path: "/v1/leagues/:league/organiser-invites", who: admin, do: a.postInvite},
		{method: "POST", path: "/v1/invites/:code/accept", who: session, do: a.postAccept},
	}
}

// codeOf reads the code of a path; what cannot be one is not found.
func codeOf(r *request, what string) (string, error) {
	code, ok := threefc.CodeOf(r.id("code"))
	if !ok {
		return "", fault.New(fault.NotFound, "", "%s was not found.", what)
	}
	return code, nil
}

// postJoin: {nickname}. Whoever has the code is in, without an account.
func (a *api) postJoin(r *request) error {
	code, err := codeOf(r, "Join code")
	if err != nil {
		return err
	}
	b := httpapi.Body(r.Context)
	name := nickname(b)
	if err := b.Err(); err != nil {
		return err
	}
	if err := a.need(r.Context, threefc.JoinKey(code)); err != nil {
		return err
	}
	var game string
	if err := httpapi.View(r.Context, func(tx *store.Tx) (err error) {
		game, err = a.Service.JoinCode(tx, code)
		return err
	}); err != nil {
		return err
	}
	if err := a.need(r.Context, threefc.Partition(threefc.Scope{Kind: "game", ID: game})); err != nil {
		return err
	}
	return r.write(http.StatusCreated, name, func(tx *store.Tx, ids *threefc.IDs) (threefc.Change, error) {
		return a.Service.Join(tx, code, name, ids)
	}, func(tx *store.Tx, made map[string]string) (any, error) {
		p, err := a.player(tx, made["player"])
		return map[string]any{"gameId": made["game"], "joinCode": code, "player": p}, err
	})
}

func (a *api) needPlayer(r *request) error {
	return a.need(r.Context, threefc.Partition(threefc.Scope{Kind: "player", ID: r.id("player")}))
}

func (a *api) postClaim(r *request) error {
	if err := nothing(r); err != nil {
		return err
	}
	if err := a.needPlayer(r); err != nil {
		return err
	}
	return r.write(http.StatusOK, nil, func(tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return a.Service.Claim(tx, r.user, r.id("player"))
	}, func(tx *store.Tx, _ map[string]string) (any, error) {
		p, err := a.player(tx, r.id("player"))
		return map[string]any{"player": p, "claim": map[string]bool{"claimedByCurrentUser": true}}, err
	})
}

func (a *api) getPlayer(r *request) error {
	if err := a.needPlayer(r); err != nil {
		return err
	}
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (any, error) {
		p, err := a.Service.PlayerOf(tx, r.user, r.id("player"))
		if err != nil {
			return nil, err
		}
		return playerOf(p), nil
	})
}

func (a *api) getAccess(r *request) error {
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (map[string]any, error) {
		all, err := a.Service.AccessList(tx, r.league)
		return listed("access", all), err
	})
}

// postAccess: {userId, role}.
func (a *api) postAccess(r *request) error {
	b := httpapi.Body(r.Context)
	given, role := text(b, "userId"), text(b, "role")
	if role != "" && role != threefc.RoleAdmin && role != threefc.RoleScorekeeper {
		b.Bad("role", "must be admin or scorekeeper")
	}
	user := strings.ToLower(given)
	if user != "" && threefc.CheckID("userId", user) != nil {
		b.Bad("userId", "must be 1 to 128 bytes without #")
	}
	if err := b.Err(); err != nil {
		return err
	}
	return r.write(http.StatusOK, [2]string{user, role}, func(tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return a.Service.Grant(tx, r.league, r.user, user, role)
	}, func(tx *store.Tx, made map[string]string) (any, error) {
		return a.Service.Access(tx, r.league, made["user"])
	})
}

// inviteView is an invite with where it leads. Delivery: queued, unavailable where the node sends no mail, or null where none is sent.
type inviteView struct {
	Invite   *threefc.Invite `json:"invite"`
	Code     string          `json:"inviteCode"`
	Link     string          `json:"inviteLink"`
	Delivery *string         `json:"emailDelivery"`
}

func (a *api) inviteLink(r *request, code string) string { return a.link(r, "/-/invites/"+code, nil) }

// postInvite: {email?}.
func (a *api) postInvite(r *request) error {
	address := ""
	b := httpapi.Body(r.Context)
	if given := optional(b, "email"); given != nil {
		address = *given
	}
	if err := b.Err(); err != nil {
		return err
	}
	status, delivery := http.StatusCreated, ""
	if address != "" {
		var err error
		if address, err = threefc.Email(address); err != nil {
			return err
		}
		if delivery = "queued"; a.Queue == nil || a.PublicURL == "" {
			status, delivery = http.StatusAccepted, "unavailable"
		}
	}
	return r.write(status, address, func(tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		if err := a.invites.take(r.user, tx.Now()); err != nil {
			return threefc.Change{}, err
		}
		c, err := a.Service.CreateInvite(tx, r.league, r.user, address)
		if err == nil && delivery == "queued" {
			err = a.mailInvite(tx, r, address, c.IDs["invite"])
		}
		return c, err
	}, func(tx *store.Tx, made map[string]string) (any, error) {
		in, err := a.Service.Invite(tx, made["invite"])
		out := inviteView{Invite: in, Code: made["invite"], Link: a.inviteLink(r, made["invite"])}
		if delivery != "" {
			out.Delivery = &delivery
		}
		return out, err
	})
}

func (a *api) mailInvite(tx *store.Tx, r *request, address, code string) error {
	l, err := a.Service.League(tx, r.league)
	if err != nil {
		return err
	}
	return a.Queue(tx, threefc.InviteMail(address, l.Name, a.inviteLink(r, code)))
}

func (a *api) postAccept(r *request) error {
	code, err := codeOf(r, "Invite")
	if err != nil {
		return err
	}
	if err := nothing(r); err != nil {
		return err
	}
	if err := a.need(r.Context, threefc.InviteKey(code)); err != nil {
		return err
	}
	return r.write(http.StatusOK, nil, func(tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return a.Service.AcceptInvite(tx, code, r.user)
	}, func(tx *store.Tx, made map[string]string) (any, error) {
		in, err := a.Service.Invite(tx, code)
		if err != nil {
			return nil, err
		}
		access, err := a.Service.Access(tx, made["league"], r.user)
		return map[string]any{"invite": in, "access": access, "inviteLink": a.link(r, "/-/leagues/"+url.PathEscape(made["league"]), nil)}, err
	})
}
