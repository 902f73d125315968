package simulation_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// A cloud without transactions gains them with an update. A create sent before without a proof, and not answered, is repeated without
// one: another node has deleted its item meanwhile, and the item does not come back, whether the creating node runs on or restarts.
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
					tap.behind = func() { must(t, copyDir(a.dir, a.dir+".crashed")) } // once the request is done, and before it is answered
				})
				a.put("items", row("f", "v", "follow"), ifAbsent, values())
				for sc.image("items", pk("f")) == nil {
					sc.pass(100 * time.Millisecond)
				}
				a.tap.offline() // a process that dies does not write its row at the end
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
