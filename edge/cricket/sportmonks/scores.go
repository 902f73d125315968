package sportmonks

import "sync"

// scores is the catalogue of score objects: loaded from /scores once, and learned from every ball that includes
// its own. It is used for rows that have only a score_id.
type scores struct {
	mu   sync.Mutex
	byID map[int64]wireScore
}

// maxScores bounds the catalogue, which has a hundred-odd entries: a reply that invents ids must not fill the memory.
const maxScores = 4096

// find returns the score with an id, or the zero score.
func (s *scores) find(id int64) wireScore {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

func (s *scores) learn(score wireScore) {
	if score.ID == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.byID[int64(score.ID)]; known || len(s.byID) < maxScores {
		s.byID[int64(score.ID)] = score
	}
}
