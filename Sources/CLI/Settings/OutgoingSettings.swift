import Arguments
import Glibc
import Mintmark
import Network

extension StoreSettings {
    /// Returns the settings for connections to other machines.
    ///
    /// - Parameter testing: Whether the store is a testing store, which can have shorter time limits.
    /// - Throws: `ValidationError` for a file that cannot be read, and for a proxy that is not valid.
    func outgoing(testing: Bool) throws -> CurlClient.Options {
        let caFile = OptionValue(caFile, "--ca-file", "CA_FILE")
        if let caFile, access(caFile.value, R_OK) != 0 {
            throw ValidationError("\(caFile.source): '\(caFile.value)' cannot be read (\(String(cString: strerror(errno)))).")
        }
        let givenProxy = OptionValue(proxy, "--proxy", "PROXY")
        if let givenProxy {
            let proxy = givenProxy.value
            let isProxy = ["http://", "https://", "socks5://", "socks5h://"].contains {
                proxy.hasPrefix($0) && proxy.utf8.count > $0.utf8.count
            }
            // The URL can contain a password, so the message does not quote it.
            guard isProxy, proxy.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw ValidationError(
                    "\(givenProxy.source) must be a URL such as http://proxy.example:3128, with the scheme http, https, socks5 or socks5h.")
            }
        }
        var options = CurlClient.Options(caFile: caFile?.value, proxy: givenProxy?.value, userAgent: "mintmark/\(Mintmark.version)")
        if let seconds = try Environment.integer("PROVIDER_TIMEOUT") {
            guard (1...10).contains(seconds) else {
                throw ValidationError("MINTMARK_PROVIDER_TIMEOUT must be between 1 and 10, in seconds.")
            }
            guard testing else { throw ValidationError("MINTMARK_PROVIDER_TIMEOUT requires --testing.") }
            options.maximumMilliseconds = Int(seconds) * 1000
        }
        return options
    }
}
