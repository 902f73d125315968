package threefc

import (
	"cmp"
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

func (a Access) place() place { return place{id: a.UserID} }

// AccessList lists a page of the roles in a league by user.
func (s *Service) AccessList(tx *store.Tx, league string, page ListPage) (part []Access, next string, err error) {
	p := s.plan(tx)
	all := list[Access](p, pkLeague+league, skACL)
	slices.SortFunc(all, inOrder)
	part, next = cut(page, all)
	return part, next, p.Err()
}

// Access reads a user's role in a league.
func (s *Service) Access(tx *store.Tx, league, user string) (*Access, error) {
	p := s.plan(tx)
	return requireRecord[Access](p, aclKey(league, user), "Access"), p.Err()
}

// Grant gives a user a role, or offers it to somebody who has none yet (AcceptRole). The last admin cannot lose it: the transaction checks another admin's row, also against other nodes. A
// former admin knows the code of the league's reusable invite, so its pointer is removed; the invite may not be on this node.
func (s *Service) Grant(tx *store.Tx, league, by, user, role string) (Change, error) {
	p := s.plan(tx)
	was := optional[Access](p, aclKey(league, user))
	counts := was != nil && was.counts()
	if counts && was.Role == RoleAdmin && role != RoleAdmin {
		all := list[Access](p, pkLeague+league, skACL)
		i := slices.IndexFunc(all, func(a Access) bool { return a.UserID != user && a.Role == RoleAdmin && a.counts() })
		if i < 0 {
			return Change{}, cmp.Or(p.Err(), conflict("last_admin", "A league needs an admin: make somebody else one first."))
		}
		p.stillAdmin(league, all[i].UserID)
		p.Write(p.Drop(shareKey(league)))
	}
	now := Access{LeagueID: league, UserID: user, Role: role, GrantedByUserID: by, Stamps: s.stamp(tx)}
	if !counts && by != user {
		now.Accepted = new(bool) // an offer: others must not decide who somebody is
	}
	replace(p, aclKey(league, user), was, now)
	if by != user && !p.checks(aclKey(league, by)) {
		p.stillAdmin(league, by)
	}
	return p.change("user", user)
}

// AcceptRole makes an offered role count. It ends the user's sessions that began with a code: they are from before the user has decided
// whose codes to accept.
func (s *Service) AcceptRole(tx *store.Tx, league, user string) (Change, error) {
	p := s.plan(tx)
	was := requireRecord[Access](p, aclKey(league, user), "Access")
	if p.Err() != nil || was.counts() {
		return p.change("user", user)
	}
	now := *was
	now.Accepted, now.UpdatedAt = new(true), s.NowText(tx)
	replace(p, aclKey(league, user), was, now)
	p.stillAdmin(league, was.GrantedByUserID)
	ended, err := s.EndSessions(tx, user, func(in *SignIn) bool { return in.ByCode })
	p.Fail(err)
	p.Writes = append(p.Writes, ended.Writes...)
	return p.change("user", user)
}

// checks reports whether the plan already has a condition check on a row: a transaction may name each row only once.
func (p *plan) checks(k attr.Item) bool {
	return slices.ContainsFunc(p.Writes, func(w store.WriteItem) bool {
		return w.Check != nil && w.Check.Key["pk"].Equal(k["pk"]) && w.Check.Key["sk"].Equal(k["sk"])
	})
}

// The kinds of invites.
const (
	inviteShare = "share"
	inviteEmail = "email"
)

// CreateInvite creates an invite for an email address. Without one it returns the league's reusable invite, creating it if none is valid.
func (s *Service) CreateInvite(tx *store.Tx, league, by, email string) (Change, error) {
	p := s.plan(tx)
	in := Invite{LeagueID: league, InviteCode: newCode(), Kind: inviteEmail, Role: RoleAdmin, CreatedByUserID: by, Stamps: s.stamp(tx)}
	if email != "" {
		in.Email = &email
	} else {
		there := optional[sharePointer](p, shareKey(league))
		if there != nil {
			if _, _, err := s.valid(tx, there.InviteCode); err == nil || !fault.Is(err, fault.NotFound) {
				c, _ := p.change("invite", there.InviteCode)
				return c, err
			}
		}
		in.Kind = inviteShare
		replace(p, shareKey(league), there, sharePointer{LeagueID: league, InviteCode: in.InviteCode, Stamps: in.Stamps})
	}
	add(p, InviteKey(in.InviteCode), in)
	p.stillAdmin(league, by)
	return p.change("invite", in.InviteCode)
}

// Invite reads an invite.
func (s *Service) Invite(tx *store.Tx, code string) (*Invite, error) {
	p := s.plan(tx)
	return requireRecord[Invite](p, InviteKey(code), "Invite"), p.Err()
}

// InvitedScope returns the league that an invite code belongs to.
func (s *Service) InvitedScope(tx *store.Tx, code string) (Scope, error) {
	p := s.plan(tx)
	in := requireRecord[Invite](p, InviteKey(code), "Invite")
	return Scope{Kind: "league", ID: in.LeagueID}, p.Err()
}

// valid reads an invite and its league. An invite is valid while its league exists and its creator is an admin of it; a reusable one
// only while the league points to it.
func (s *Service) valid(tx *store.Tx, code string) (in *Invite, l *League, err error) {
	p := s.plan(tx)
	in = must(p, s.Invite, code)
	l = must(p, s.League, in.LeagueID)
	share := optional[sharePointer](p, shareKey(l.LeagueID))
	if p.Err() != nil {
		return nil, nil, p.Err()
	}
	former := in.CreatedAt < l.CreatedAt || in.Kind == inviteShare && (share == nil || share.InviteCode != code)
	err = s.Allow(tx, l.LeagueID, in.CreatedByUserID, RoleAdmin)
	if fault.Is(err, fault.Forbidden) || err == nil && former {
		err = notFound("", "Invite was not found.")
	}
	return in, l, err
}

// AcceptInvite makes a user an admin. An email invite works once, for its address only.
func (s *Service) AcceptInvite(tx *store.Tx, code, user string) (Change, error) {
	in, l, err := s.valid(tx, code)
	if err != nil {
		return Change{}, err
	}
	p := s.plan(tx)
	p.Refuse(in.Email != nil && *in.Email != user, fault.New(fault.Forbidden, "invite_email_mismatch", "This invite is for another email address."))
	p.Refuse(in.Kind == inviteEmail && in.AcceptedByUserID != nil, conflict("invite_used", "This invite has been used."))
	if in.Kind == inviteEmail {
		now, at := *in, s.NowText(tx)
		now.AcceptedByUserID, now.AcceptedAt, now.UpdatedAt = &user, &at, at
		replace(p, InviteKey(code), in, now)
	}
	was := optional[Access](p, aclKey(in.LeagueID, user))
	if was == nil || !was.counts() || was.Role != RoleAdmin {
		now := Access{LeagueID: in.LeagueID, UserID: user, Role: in.Role, GrantedByUserID: in.CreatedByUserID, Stamps: s.stamp(tx)}
		replace(p, aclKey(in.LeagueID, user), was, now)
		p.checkParent(leagueKey(in.LeagueID), l.Stamps)
		p.stillAdmin(in.LeagueID, in.CreatedByUserID)
		if in.Kind != inviteEmail {
			p.Write(p.Check(shareKey(in.LeagueID), table.IfTrue("attribute_exists(pk) AND contains(#data, :code)", attr.Item{":code": attr.S(`"` + code + `"`)})))
		}
	}
	return p.change("invite", code, "league", in.LeagueID)
}

// Joins returns the game that a join code belongs to. The game's row shows the code too: a node that is cut off may have that row alone.
func (s *Service) Joins(tx *store.Tx, code string) (Scope, error) {
	p := s.plan(tx)
	if by := optional[joinCode](p, JoinKey(code)); by != nil {
		return Scope{Kind: "game", ID: by.GameID}, p.Err()
	}
	game := p.gameOfCode(code)
	p.Refuse(game == "", notFound("", "Join code was not found."))
	return Scope{Kind: "game", ID: game}, p.Err()
}

// Claim records that a player is the given user. Nobody else can claim the player afterwards.
func (s *Service) Claim(tx *store.Tx, user, player string) (Change, error) {
	p := s.plan(tx)
	was := must(p, s.Player, player)
	if by := was.ClaimedByUserID; by != nil {
		p.Refuse(*by != user, conflict("player_claimed", "%s has been claimed by someone else.", was.Nickname))
		return p.change("player", player)
	}
	now := *was
	now.ClaimedByUserID, now.UpdatedAt = &user, s.NowText(tx)
	replace(p, playerKey(player), was, now)
	add(p, claimKey(user, player), playerClaim{UserID: user, PlayerID: player, Stamps: s.stamp(tx)})
	return p.change("player", player)
}

// PlayerOf reads a player on behalf of a session, whose user must have a role in the player's league or in one where the player appears.
func (s *Service) PlayerOf(tx *store.Tx, in *SignIn, id string) (*Player, error) {
	p := s.plan(tx)
	player := must(p, s.Player, id)
	if player.LeagueID != "" && s.AllowSession(tx, player.LeagueID, in, RoleViewer) == nil {
		return player, p.Err()
	}
	for _, league := range p.leaguesOf(in.Email) {
		if s.AllowSession(tx, league, in, RoleViewer) == nil && p.playsIn(league, id) {
			return player, p.Err()
		}
	}
	p.Fail(fault.New(fault.Forbidden, "league_access_required", "Access to a league of player %s is required.", id))
	return nil, p.Err()
}
