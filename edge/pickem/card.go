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
	m.Name = strings.TrimSpace(row[0])
	if preshow := strings.TrimSpace(row[2]); preshow != "" {
		m.Preshow, err = strconv.ParseBool(preshow)
	}
	points, bad := strconv.Atoi(strings.TrimSpace(row[1]))
	m.Points, m.Championships = points, parts(row[3], "|")
	for _, side := range parts(row[4], "|") {
		members, champion := strings.CutSuffix(side, "*")
		m.Teams = append(m.Teams, Team{Members: parts(members, "&"), Champion: champion})
	}
	return m, cmp.Or(err, bad)
}

func parts(text, by string) (out []string) {
	for part := range strings.SplitSeq(text, by) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
