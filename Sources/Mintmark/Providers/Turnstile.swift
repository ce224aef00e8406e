import Network
import Platform
import Synchronization

/// Lets so many questions at once through to each provider that is asked about every token, so that one that hangs leaves threads for
/// the others; and leaves a provider that let a question time out in peace for some seconds.
final class Turnstile: Sendable {
    enum Passage {
        /// The question may be asked; `leave` when it is answered.
        case free
        /// As many as may are being asked; `whenFree` says when to try again.
        case busy
        /// A question timed out a moment ago.
        case closed(IssuerFailure)
    }

    private struct Place {
        var asking = 0
        var waiting: [@Sendable () -> Void] = []
        var failure: IssuerFailure?
        var closedUntil: UInt64 = 0

        var isIdle: Bool { asking == 0 && waiting.isEmpty && failure == nil }
    }

    /// How many questions one provider is asked at once, of the 64 that a process asks.
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

    /// - Parameter timeout: why the question was given up, if it was.
    func leave(_ name: ProviderPlace, timeout: IssuerFailure?) {
        let now = Monotonic.nanoseconds()
        let woken = places.withLock { places -> [@Sendable () -> Void] in
            guard var place = places[name] else { return [] }
            place.asking -= 1
            if let timeout { (place.failure, place.closedUntil) = (timeout, now + Self.pause) }
            // One takes the place that is free. Whoever has given up meanwhile does not; so when nobody is asking, all look.
            let count = place.asking == 0 || place.failure != nil ? place.waiting.count : min(1, place.waiting.count)
            let woken = Array(place.waiting.prefix(count))
            place.waiting.removeFirst(count)
            places[name] = place.isIdle ? nil : place
            return woken
        }
        for body in woken { body() }
    }

    /// Every provider may be asked at once, also one that has just let a question time out.
    func reopen() {
        places.withLock { places in
            for (name, place) in places where place.failure != nil {
                places[name]?.failure = nil
                if places[name]?.isIdle == true { places[name] = nil }
            }
        }
    }

    /// Runs `body` when there may be room: at once, or on the thread that made it.
    func whenFree(_ name: ProviderPlace, _ body: @escaping @Sendable () -> Void) {
        let waits = places.withLock { places in
            guard let asking = places[name]?.asking, asking >= Self.width else { return false }
            places[name]?.waiting.append(body)
            return true
        }
        if !waits { body() }
    }
}

/// Where a provider is asked: its scheme, host and port.
struct ProviderPlace: Hashable, Sendable {
    let origin: String

    init(of url: String) { origin = url.split(separator: "/", omittingEmptySubsequences: false).prefix(3).joined(separator: "/") }
}
