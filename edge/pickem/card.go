package pickem

import (
	"cmp"
	"strconv"
	"strings"
)

// ParseMatch parses one row of a card: name, points, preshow, championships, teams. Championships and teams are separated by |, the members of
// a team by &. A team that holds the championship ends in a star.
//
//	Tornado Tag Team,25,false,AEW World Tag Team Championship,Sting & Darby Allin*|Matthew Jackson & Nicholas Jackson
func ParseMatch(row []string) (m Details, err error) {
	m.Name, m.Championships = strings.TrimSpace(row[0]), parts(row[3], "|")
	if m.Points, err = strconv.Atoi(strings.TrimSpace(row[1])); err != nil {
		return m, invalid("points", "must be a whole number")
	}
	if m.Preshow, err = strconv.ParseBool(cmp.Or(strings.TrimSpace(row[2]), "false")); err != nil {
		return m, invalid("preshow", "must be true or false")
	}
	for _, side := range parts(row[4], "|") {
		members, champion := strings.CutSuffix(side, "*")
		m.Teams = append(m.Teams, Team{Members: parts(members, "&"), Champion: champion})
	}
	return m, nil
}

func parts(text, by string) (out []string) {
	for part := range strings.SplitSeq(text, by) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
