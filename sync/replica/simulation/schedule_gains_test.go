package simulation_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// A cloud without transactions has them after an update. What was made before without a proof, and not answered, is repeated as
// that: another node has deleted it meanwhile, and it does not come back, whether its node runs on or starts anew.
func TestCreateFromBeforeTheCloudHadTransactions(t *testing.T) {
	for name, asked := range map[string]bool{"the node had asked": true, "written before it had ever asked": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stage := newSimStage(false)
				sc := newScene(t, stage)
				a, b := sc.node("A"), sc.node("B")
				if asked {
					sc.round()
				}
				a.tap.with(func(tap *tap) {
					tap.behind = func() { must(t, copyDir(a.dir, a.dir+".crashed")) } // with the request done, and not answered
				})
				a.put("items", row("f", "v", "follow"), ifAbsent, values())
				for sc.image("items", pk("f")) == nil {
					sc.pass(100 * time.Millisecond)
				}
				a.tap.offline() // what it says at its end is not said by a process that dies
				a.end()
				a.dir += ".crashed"
				stage.c.GainTransactions()
				b.end()
				b.start()
				sc.round()
				b.remove("items", "f", "", values())
				b.settle()
				sc.cloudHas("items", "f", nil)
				a.start()
				a.settle()
				sc.cloudHas("items", "f", nil)
			})
		})
	}
}
