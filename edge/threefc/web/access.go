package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// joinsAMinute limits how often a client may use a join code.
const joinsAMinute = 20

// joinGame lets a player join by the code alone, without an account.
func (h *handlers) joinGame(r *httpapi.Request) (httpapi.Response, error) {
	if err := r.CheckLimit(h.joins); err != nil {
		return httpapi.Response{}, err
	}
	name := nickname(r.Body())
	code, game, err := h.findJoinCode(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return h.writeOnce(r, onceWrite{
		status: http.StatusCreated, input: name,
		plan: func(tx *store.Tx, run *onceRun) (threefc.Change, error) {
			return h.Service.AddPlayer(tx, game, "", name, run.ids)
		},
		show: func(tx *store.Tx, run *onceRun) (any, error) {
			p, err := h.readPlayer(tx, run.made["player"])
			return map[string]any{"gameId": game, "joinCode": code, "player": p}, err
		},
	})
}

// findJoinCode reads the code in the path, and fetches the game that it leads to. An invalid code is not found.
func (h *handlers) findJoinCode(r *httpapi.Request) (code, game string, err error) {
	code, ok := threefc.CodeOf(r.Param("code"))
	if !ok {
		return "", "", fault.New(fault.NotFound, "", "Join code was not found.")
	}
	of, err := fetchBehind(r, threefc.JoinKey(code), func(tx *store.Tx) (threefc.Scope, error) { return h.Service.Joins(tx, code) })
	return code, of.ID, err
}

// findInvite is findJoinCode for the code of an invite, which leads to a league.
func (h *handlers) findInvite(r *httpapi.Request) (code string, err error) {
	code, ok := threefc.CodeOf(r.Param("code"))
	if !ok {
		return "", fault.New(fault.NotFound, "", "Invite was not found.")
	}
	_, err = fetchBehind(r, threefc.InviteKey(code), func(tx *store.Tx) (threefc.Scope, error) { return h.Service.InvitedScope(tx, code) })
	return code, err
}

// fetchBehind fetches a row, and what it leads to.
func fetchBehind(r *httpapi.Request, row attr.Item, follow func(tx *store.Tx) (threefc.Scope, error)) (of threefc.Scope, err error) {
	if err := r.Fetch(row); err != nil {
		return of, err
	}
	err = r.View(func(tx *store.Tx) (err error) {
		of, err = follow(tx)
		return err
	})
	if err != nil {
		return of, err
	}
	return of, r.Fetch(threefc.Partition(of))
}

func (h *handlers) listAccess(r *httpapi.Request) (httpapi.Response, error) {
	page := listPage(r, wholeList)
	return r.Read(func(tx *store.Tx) (any, error) {
		all, next, err := h.Service.AccessList(tx, r.Param("league"), page)
		return addCursor(wrapList("access", all), next), err
	})
}

// grantAccess gives a user a role.
func (h *handlers) grantAccess(r *httpapi.Request) (httpapi.Response, error) {
	b := r.Body()
	user, role := strings.ToLower(text(b, "userId")), text(b, "role")
	if role != "" && role != threefc.RoleAdmin && role != threefc.RoleScorekeeper {
		b.Bad("role", "must be admin or scorekeeper")
	}
	if user != "" && !threefc.IsID(user) {
		b.Bad("userId", "must be 1 to 128 bytes without #")
	}
	league := r.Param("league")
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK, input: [2]string{user, role},
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.Grant(tx, league, r.User, user, role)
		},
		show: func(tx *store.Tx, run *onceRun) (any, error) { return h.Service.Access(tx, league, run.made["user"]) },
	})
}

// acceptAccess accepts a role that waits for the user.
func (h *handlers) acceptAccess(r *httpapi.Request) (httpapi.Response, error) {
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK,
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.AcceptRole(tx, r.Param("league"), r.User)
		},
		show: func(tx *store.Tx, _ *onceRun) (any, error) { return h.Service.Access(tx, r.Param("league"), r.User) },
	})
}

// createInvite creates an invite: for an address, to which it is sent if the node can send mail, or one that can be used again and again.
func (h *handlers) createInvite(r *httpapi.Request) (httpapi.Response, error) {
	address := ""
	if given := optional(r.Body(), "email"); given != nil {
		var err error
		if address, err = threefc.Email(*given); err != nil {
			return httpapi.Response{}, err
		}
	}
	return h.writeOnce(r, onceWrite{
		status: http.StatusCreated, input: address,
		plan: func(tx *store.Tx, run *onceRun) (threefc.Change, error) { return h.planInvite(tx, r, run, address) },
		show: func(tx *store.Tx, run *onceRun) (any, error) {
			in, err := h.Service.Invite(tx, run.made["invite"])
			if err != nil {
				return nil, err
			}
			var delivery any
			if in.Email != nil {
				delivery = map[bool]string{true: "queued", false: "unavailable"}[h.mails()]
			}
			return map[string]any{"invite": in, "inviteCode": in.InviteCode, "inviteLink": h.inviteLink(r, in.InviteCode), "emailDelivery": delivery}, nil
		},
	})
}

// planInvite plans an invite, and queues its mail.
func (h *handlers) planInvite(tx *store.Tx, r *httpapi.Request, run *onceRun, address string) (c threefc.Change, err error) {
	if err := h.invites.countOne(r.User, tx.Now()); err != nil {
		return c, err
	}
	league := r.Param("league")
	c, err = h.Service.CreateInvite(tx, league, r.User, address)
	switch {
	case err != nil || address == "":
		return c, err
	case !h.mails():
		run.status = http.StatusAccepted
		return c, nil
	}
	l, err := h.Service.League(tx, league)
	if err != nil {
		return c, err
	}
	return c, h.Queue(tx, threefc.InviteMail(address, l, h.inviteLink(r, c.IDs["invite"]), r.Client()))
}

// acceptInvite takes the role that an invite offers.
func (h *handlers) acceptInvite(r *httpapi.Request) (httpapi.Response, error) {
	code, err := h.findInvite(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK,
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.AcceptInvite(tx, code, r.User)
		},
		show: func(tx *store.Tx, _ *onceRun) (any, error) {
			in, err := h.Service.Invite(tx, code)
			if err != nil {
				return nil, err
			}
			access, err := h.Service.Access(tx, in.LeagueID, r.User)
			return map[string]any{"invite": in, "access": access, "inviteLink": h.link(r, "/-/leagues/"+url.PathEscape(in.LeagueID), nil)}, err
		},
	})
}

func (h *handlers) inviteLink(r *httpapi.Request, code string) string {
	return h.link(r, "/-/invites/"+code, nil)
}

// mails reports whether the node can send mail with links: it needs a mail queue and a public URL.
func (h *handlers) mails() bool { return h.Queue != nil && h.PublicURL != "" }
