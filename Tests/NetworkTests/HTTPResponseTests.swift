import Testing

@testable import Network

@Suite struct HTTPResponseTests {
    static let ages: [([(String, String)], Int?)] = [
        ([], nil), ([("Cache-Control", "public")], nil), ([("Cache-Control", "public, max-age=3600, must-revalidate")], 3600),
        ([("cache-control", "Max-Age=\"60\"")], 60), ([("Cache-Control", "public"), ("Cache-Control", "max-age=7")], 7),
        ([("Cache-Control", "max-age=3600"), ("Age", "600")], 3000), ([("Cache-Control", "max-age=60"), ("Age", "600")], 0),
        ([("Cache-Control", "max-age=5, no-store")], 0), ([("Cache-Control", "no-cache")], 0),
        ([("Cache-Control", "max-age=99999999999999999999999")], 1 << 31), ([("Cache-Control", "max-age=-5")], 0),
        ([("Cache-Control", "max-age")], nil), ([("Cache-Control", ",,=,max-age=1e3")], 0), ([("Cache-Control", "s-maxage=9")], nil),
    ]

    @Test("the maximum age of a response follows from its headers", arguments: ages)
    func maxAge(headers: [(String, String)], seconds: Int?) {
        #expect(HTTPResponse(status: 200, headers: headers).maxAgeSeconds == seconds)
    }
}
