package pickemapp

import (
	"testing"
	"testing/synctest"

	"github.com/touchline/touchline/internal/testrig/nodes"
)

// seeds are the rows that the original's description prints, and others as it would have written them: a card of which only one match is
// there, points and standings that were counted from the whole card, standings of a year whose events are gone, and an event whose lock
// is past.
const seeds = `
{"PK":{"S":"USER#sam"},"SK":{"S":"USER"},"type":{"S":"user"},"name":{"S":"Sam Hogarth"}}
{"PK":{"S":"USER#sam"},"SK":{"S":"STANDINGS#2024"},"type":{"S":"standings"},"GSI_PK":{"S":"STANDINGS#2024"},"GSI_SK":{"S":"SCORE#00140#sam"},"belongsto":{"S":"USER#sam"},"eplayed":{"N":"1"},"mcorrect":{"N":"10"},"points":{"N":"140"}}
{"PK":{"S":"USER#sam"},"SK":{"S":"EVENT#2024-03-03-aew-revolution"},"type":{"S":"prediction"},"GSI_PK":{"S":"EVENT#2024-03-03-aew-revolution"},"GSI_SK":{"S":"SCORE#140#sam"},"mcorrect":{"N":"10"},"points":{"N":"140"},"predictions":{"M":{"03973653-e1f9-4262-86d5-02cbfd2cf962":{"N":"1"},"05389aab-1f1b-44d0-9cfc-2e6d9cfd487f":{"N":"0"}}}}
{"PK":{"S":"EVENT"},"SK":{"S":"EVENT#2024-03-03-aew-revolution"},"type":{"S":"event"},"GSI_PK":{"S":"EVENT#2024-03-03-aew-revolution"},"GSI_SK":{"S":"EVENT"},"date":{"S":"2024/03/03"},"name":{"S":"AEW Revolution"},"state":{"S":"scored"}}
{"PK":{"S":"EVENT#2024-03-03-aew-revolution"},"SK":{"S":"MATCH#03973653-e1f9-4262-86d5-02cbfd2cf962"},"type":{"S":"match"},"GSI_PK":{"S":"EVENT#2024-03-03-aew-revolution"},"GSI_SK":{"S":"MATCH#01"},"id":{"S":"03973653-e1f9-4262-86d5-02cbfd2cf962"},"championships":{"L":[]},"name":{"S":"Tag Team"},"points":{"N":"5"},"preshow":{"BOOL":true},"result":{"N":"1"},"teams":{"L":[{"M":{"members":{"L":[{"S":"A"}]}}},{"M":{"members":{"L":[{"S":"B"}]}}}]}}
{"PK":{"S":"USER#max"},"SK":{"S":"USER"},"type":{"S":"user"},"name":{"S":"Max"}}
{"PK":{"S":"USER#max"},"SK":{"S":"STANDINGS#2024"},"type":{"S":"standings"},"GSI_PK":{"S":"STANDINGS#2024"},"GSI_SK":{"S":"SCORE#00055#max"},"belongsto":{"S":"USER#max"},"eplayed":{"N":"1"},"mcorrect":{"N":"4"},"points":{"N":"55"}}
{"PK":{"S":"USER#max"},"SK":{"S":"STANDINGS#2023"},"type":{"S":"standings"},"GSI_PK":{"S":"STANDINGS#2023"},"GSI_SK":{"S":"SCORE#00025#max"},"belongsto":{"S":"USER#max"},"eplayed":{"N":"1"},"mcorrect":{"N":"2"},"points":{"N":"25"}}
{"PK":{"S":"USER#kim"},"SK":{"S":"EVENT#2024-03-03-aew-revolution"},"type":{"S":"prediction"},"GSI_PK":{"S":"EVENT#2024-03-03-aew-revolution"},"GSI_SK":{"S":"SCORE#000#kim"},"mcorrect":{"N":"0"},"points":{"N":"0"},"predictions":{"M":{"03973653-e1f9-4262-86d5-02cbfd2cf962":{"N":"1"}}}}
{"PK":{"S":"EVENT"},"SK":{"S":"EVENT#2024-03-03#aew-revolution"},"type":{"S":"event"},"GSI_PK":{"S":"EVENT#2024-03-03#aew-revolution"},"GSI_SK":{"S":"EVENT"},"date":{"S":"2024/03/03"},"name":{"S":"AEW Revolution"},"state":{"S":"scored"}}
{"PK":{"S":"EVENT"},"SK":{"S":"EVENT#2023-03-03-aew-revolution"},"type":{"S":"event"},"GSI_PK":{"S":"EVENT#2023-03-03-aew-revolution"},"GSI_SK":{"S":"EVENT"},"date":{"S":"2023/03/03"},"name":{"S":"AEW Revolution"},"state":{"S":"broadcast"}}
{"PK":{"S":"EVENT"},"SK":{"S":"EVENT#2022-03-06-aew-revolution"},"type":{"S":"event"},"GSI_PK":{"S":"EVENT#2022-03-06-aew-revolution"},"GSI_SK":{"S":"EVENT"},"date":{"S":"2022/03/06"},"name":{"S":"AEW Revolution"},"state":{"S":"scored"}}
{"PK":{"S":"USER#sam"},"SK":{"S":"STANDINGS#2022"},"type":{"S":"standings"},"GSI_PK":{"S":"STANDINGS#2022"},"GSI_SK":{"S":"SCORE#00025#sam"},"belongsto":{"S":"USER#sam"},"eplayed":{"N":"1"},"mcorrect":{"N":"2"},"points":{"N":"25"}}
{"PK":{"S":"EVENT"},"SK":{"S":"EVENT#1999-03-06-over"},"type":{"S":"event"},"GSI_PK":{"S":"EVENT#1999-03-06-over"},"GSI_SK":{"S":"EVENT"},"date":{"S":"1999/03/06"},"name":{"S":"Over"},"state":{"S":"upcoming"}}
`

// A table of the original stays as it is: two nodes that run on it delete and overwrite nothing.
func TestTableOfTheOriginalStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes.Keep(t, nodes.Options{App: New}, nodes.Seeds{prod: seeds})
	})
}
