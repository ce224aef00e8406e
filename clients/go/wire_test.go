package mintmark

import "testing"

func TestWhatIsNoVersionIsNotBelowAnything(t *testing.T) {
	for _, below := range []string{"0.0.9", "0.0", "0", "0.0.9-rc.1", "0.0.1.5"} {
		if !isBelow(below, "0.1.0") {
			t.Errorf("%q is below 0.1.0", below)
		}
	}
	for _, other := range []string{"", "dev", "-", "v0", "0.1.0", "0.1.0-rc.1", "0.10", "main 0.0.1"} {
		if isBelow(other, "0.1.0") {
			t.Errorf("%q is not below 0.1.0", other)
		}
	}
}
