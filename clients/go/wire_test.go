package mintmark

import "testing"

func TestATextThatIsNotAVersionIsNotBelowAnyVersion(t *testing.T) {
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

func TestQuicklyReadsOnlyResponsesWithoutFurtherMembers(t *testing.T) {
	for line, result := range map[string]string{
		`{"jsonrpc":"2.0","id":12,"result":{"a":[1,"}"]}}`:               `{"a":[1,"}"]}`,
		`{"jsonrpc":"2.0","id":12,"result":null}`:                        "null",
		`{"jsonrpc":"2.0","id":12,"result":{},"trace":"t"}`:              "",
		`{"jsonrpc":"2.0","id":12,"result":1,"error":{"code":1}}`:        "",
		`{"jsonrpc":"2.0","id":12,"result":{"a":1}`:                      "",
		`{"jsonrpc":"2.0","id":12,"result":{"a":1}}}`:                    "",
		`{"jsonrpc":"2.0","id":01,"result":{}}`:                          "",
		`{"jsonrpc":"2.0","id":-1,"result":{}}`:                          "",
		`{"jsonrpc":"2.0","id":"1","result":{}}`:                         "",
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}`:     "",
		`{"jsonrpc":"2.0","method":"moon/risen","params":{"id":1}}`:      "",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\x01\"}":             "",
		`{"jsonrpc":"2.0","id":12,"result":}`:                            "",
		`{"jsonrpc":"2.0", "id":12,"result":{}}`:                         "",
		`{"jsonrpc":"2.0","id":12345678901234567890123,"result":"long"}`: `"long"`,
	} {
		quick, slow := quickly([]byte(line+"\n")), slowly([]byte(line+"\n"))
		if (quick == nil) != (result == "") || quick != nil && string(quick.Result) != result {
			t.Errorf("%s was read as %v", line, quick)
		}
		if quick != nil && (string(quick.ID) != string(slow.ID) || quick.Version != slow.Version || string(slow.Result) != result && result != "null") {
			t.Errorf("%s was read as %v and as %v", line, quick, slow)
		}
	}
}
