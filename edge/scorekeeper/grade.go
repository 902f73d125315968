package scorekeeper

// Letters is the length of every word.
const Letters = 5

// MaxGuesses end a game.
const MaxGuesses = 6

// Grade is what a guess says of one letter.
type Grade string

// The grades.
const (
	Correct   Grade = "correct"   // the answer has this letter here
	Contained Grade = "contained" // the answer has it elsewhere
	Wrong     Grade = "wrong"
)

// GradeGuess grades a guess in two passes: letters in their place use up the answer's letter first; of the others each uses up
// one that is left, from left to right. So the second e of "creep" is wrong where the answer is "crane", which has one:
//
//	creep against crane: correct correct contained wrong wrong
//
// An answer that is not known, of a day whose row is gone, grades nothing: the list is empty.
func GradeGuess(guess, answer string) []Grade {
	grades := make([]Grade, 0, Letters)
	if len(guess) != Letters || len(answer) != Letters {
		return grades
	}
	var left [256]int
	for i := range Letters {
		if guess[i] != answer[i] {
			left[answer[i]]++
		}
	}
	for i := range Letters {
		switch c := guess[i]; {
		case c == answer[i]:
			grades = append(grades, Correct)
		case left[c] > 0:
			left[c]--
			grades = append(grades, Contained)
		default:
			grades = append(grades, Wrong)
		}
	}
	return grades
}

// Row is a graded guess without its letters, as people share it.
func Row(grades []Grade) (row string) {
	for _, g := range grades {
		row += map[Grade]string{Correct: "🟩", Contained: "🟨", Wrong: "⬛"}[g]
	}
	return row
}
