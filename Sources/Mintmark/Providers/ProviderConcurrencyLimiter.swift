import Network
import Platform
import Synchronization

/// Limits the concurrent requests to each provider that is contacted for every token, so that a slow provider does not use all threads.
/// After a timeout, it pauses requests to the provider for 5 seconds.
final class ProviderConcurrencyLimiter: Sendable {
    enum Passage {
        /// The request is allowed. Call `leave` when it is complete.
        case free
        /// The limit of concurrent requests is reached. `whenFree` reports when to try again.
        case busy
        /// A recent request timed out.
        case closed(IssuerFailure)
    }

    private struct Place {
        var asking = 0
        var waiting: [@Sendable () -> Void] = []
        var failure: IssuerFailure?
        var closedUntil: UInt64 = 0

        var isIdle: Bool { asking == 0 && waiting.isEmpty && failure == nil }
    }

    /// The maximum number of concurrent requests to one provider, of the 64 that a process can send.
    static let width = 16
    private static let pause: UInt64 = 5_000_000_000
    private let places = Mutex<[ProviderPlace: Place]>([:])

    func enter(_ name: ProviderPlace) -> Passage {
        let now = Monotonic.nanoseconds()
        return places.withLock { places in
            var place = places[name] ?? Place()
            if let failure = place.failure {
                if now < place.closedUntil { return .closed(failure) }
                place.failure = nil
            }
            guard place.asking < Self.width else { return .busy }
            place.asking += 1
            places[name] = place
            return .free
        }
    }

    /// - Parameter timeout: The failure if the request timed out.
    func leave(_ name: ProviderPlace, timeout: IssuerFailure?) {
        let now = Monotonic.nanoseconds()
        let woken = places.withLock { places -> [@Sendable () -> Void] in
            guard var place = places[name] else { return [] }
            place.asking -= 1
            if let timeout { (place.failure, place.closedUntil) = (timeout, now + Self.pause) }
            // One waiter takes the free slot. A waiter that has given up does not, so if no request is running, all waiters are woken.
            let count = place.asking == 0 || place.failure != nil ? place.waiting.count : min(1, place.waiting.count)
            let woken = Array(place.waiting.prefix(count))
            place.waiting.removeFirst(count)
            places[name] = place.isIdle ? nil : place
            return woken
        }
        for body in woken { body() }
    }

    /// Allows requests to every provider immediately, including those that recently timed out.
    func reopen() {
        places.withLock { places in
            for (name, place) in places where place.failure != nil {
                places[name]?.failure = nil
                if places[name]?.isIdle == true { places[name] = nil }
            }
        }
    }

    /// Runs `body` when a slot may be free: immediately, or on the thread that released the slot.
    func whenFree(_ name: ProviderPlace, _ body: @escaping @Sendable () -> Void) {
        let waits = places.withLock { places in
            guard let asking = places[name]?.asking, asking >= Self.width else { return false }
            places[name]?.waiting.append(body)
            return true
        }
        if !waits { body() }
    }
}

/// The origin of a provider: its scheme, host and port.
struct ProviderPlace: Hashable, Sendable {
    let origin: String

    init(of url: String) { origin = url.split(separator: "/", omittingEmptySubsequences: false).prefix(3).joined(separator: "/") }
}
