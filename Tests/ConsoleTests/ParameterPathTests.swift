import Testing

@testable import Console

struct ParameterPathTests {
    @Test("a path has a name and steps in brackets")
    func steps() {
        #expect(ParameterPath.steps("name") == ["name"])
        #expect(ParameterPath.steps("logins[login.shop]") == ["logins", "login.shop"])
        #expect(ParameterPath.steps("a[b][0][]") == ["a", "b", "0", ""])
        #expect(ParameterPath.steps("[a]") == nil)
        #expect(ParameterPath.steps("a[b") == nil)
        #expect(ParameterPath.steps("a" + String(repeating: "[b]", count: 15))?.count == 16)
        #expect(ParameterPath.steps("a" + String(repeating: "[b]", count: 16)) == nil)
    }
}
