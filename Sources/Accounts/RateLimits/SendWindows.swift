import Storage

extension Transaction {
    /// Returns the window that contains `now`, or a new one if it expired or the clock was set back.
    func sendWindow(of address: String, _ seconds: Int64, at now: Int64) throws -> (since: Int64, sent: Int64) {
        let window = try queryOne("SELECT since, sent FROM send_count WHERE address = $1", address) { ($0.int(0), $0.int(1)) }
        guard let window, window.0 <= now, now < window.0 + seconds else { return (now, 0) }
        return window
    }

    func set(_ window: (since: Int64, sent: Int64), of address: String, _ seconds: Int64) throws {
        try execute(
            """
            INSERT INTO send_count (address, since, sent, expires_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (address) DO UPDATE SET since = excluded.since, sent = excluded.sent, expires_at = excluded.expires_at
            """, address, window.since, window.sent, window.since + seconds)
    }
}
