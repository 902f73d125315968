package pickem

import (
	"cmp"
	"strconv"
	"strings"
)

// ParseMatch reads a row of a table with a card: name, points, preshow, championships, teams. Teams are parted by |, as championships
// are, and their members by &; a champion has a star at the end.
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
