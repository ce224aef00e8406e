import JSON

extension Fixtures {
    /// The streams of events.
    static var events: [Fixture] {
        [
            Fixture(
                name: "eventStream", given: [],
                steps: [
                    .init(
                        method: "events.putStream",
                        params: ["streamId": "shop", "tenantId": "default", "audience": "https://shop.example.com"], result: [:])
                ])
        ]
    }
}
