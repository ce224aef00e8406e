import JSON
import Testing

@Suite("access to the nodes of a parsed text")
struct JSONNodeTests {
    let root: JSONNode

    init() throws { root = try JSONText(#" {"a": [10, "x", {"deep": true}], "b\u0063": "q\n", "n": 1.50, "z": null} "#).root }

    @Test("members are found by name, whether or not the name is escaped in the text")
    func members() {
        #expect(root["a"]?.count == 3)
        #expect(root["bc"]?.string == "q\n")
        #expect(root["bc" as String]?.string == "q\n")
        #expect(root["z"]?.isNull == true)
        #expect(root["missing"] == nil)
        #expect(root["n"]?["x"] == nil)
        var names: [String] = []
        root.forEachMember { name, _ in names.append(name) }
        #expect(names == ["a", "bc", "n", "z"])
    }

    @Test("members are looked up in any order, and members that were not looked up are noticed")
    func lookup() throws {
        let object = root
        for names in [["a", "bc", "n", "z"], ["z", "n", "bc", "a"], ["n", "missing", "a", "z", "bc"]] as [[StaticString]] {
            var members = MemberLookup(object)
            for name in names {
                #expect(members.hasOthers)
                #expect(members.value(of: name)?.rawText == object[name]?.rawText)
            }
            #expect(!members.hasOthers)
        }
        var scalar = MemberLookup(try #require(root["n"]))
        #expect(scalar.value(of: "n") == nil && !scalar.hasOthers)
    }

    @Test("the members of a list of names are counted")
    func counted() {
        #expect(root.count(ofMembers: "a bc missing") == 2)
        #expect(root.count(ofMembers: "b") == 0)
        #expect(root["a"]?.count(ofMembers: "a") == 0)
    }

    @Test("elements are visited in order, whatever their kind")
    func elements() {
        var seen: [String] = []
        root["a"]!.forEachElement { seen.append("\($0):\($1.rawText)") }
        #expect(seen == ["0:10", "1:\"x\"", "2:{\"deep\": true}"])
    }

    @Test("accessors return nil for values of another kind")
    func kinds() {
        #expect(root["n"]?.string == nil)
        #expect(root["n"]?.number?.text == "1.50")
        #expect(root["bc"]?.number == nil)
        #expect(root["a"]?.bool == nil)
        #expect(root.kind == .object)
        #expect(root["bc"]!.isString("q\n"))
        #expect(!root["bc"]!.isString("q"))
    }

    @Test("member names are compared by their bytes, not by canonical equivalence")
    func composed() throws {
        let value = try JSONValue(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(value["\u{E9}"] == 1)
        #expect(value["e\u{301}"] == 2)
    }

    @Test(
        "integers are read exactly in every notation",
        arguments: [
            ("0", 0), ("-0", 0), ("7", 7), ("1.0", 1), ("1e3", 1000), ("1.5e1", 15), ("-120e-1", -12), ("9223372036854775807", Int64.max),
            ("0e999999999999", 0),
            ("-9223372036854775808", Int64.min), ("92233720368547758.07e2", Int64.max), ("0.000e5", 0), ("1000000000000000000000e-20", 10),
        ] as [(String, Int64)])
    func integers(text: String, expected: Int64) throws { #expect(try JSONValue(parsing: text).int == expected) }

    @Test(
        "numbers that are not 64-bit integers yield nil",
        arguments: ["0.5", "1e-1", "9223372036854775808", "1e19", "-9223372036854775809", "1e999999999999", "12.34e1"])
    func notIntegers(text: String) throws { #expect(try JSONValue(parsing: text).int == nil) }
}
