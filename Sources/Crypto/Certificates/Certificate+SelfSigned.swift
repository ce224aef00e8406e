import Platform

extension Certificate {
    /// Returns a self-signed certificate (RFC 5280) of a key, as PEM. The same arguments always have the same certificate.
    ///
    /// - Parameters:
    ///   - key: A key for RS256.
    ///   - times: The first and the last second of the validity, in seconds since 1970.
    /// - Throws: `CryptoFailure`.
    public static func selfSigned(_ key: PrivateKey, name: String, times: ClosedRange<Int64>) throws(CryptoFailure) -> String {
        precondition(key.algorithm == .RS256, "a certificate needs a key for RS256")
        let signed = encoded { content(of: key, name: name, times: times, in: &$0) }
        let signature = try key.sign(signed)
        let der = encoded { writer in
            writer.wrap(.sequence) { writer in
                writer.wrap(.bitString) { writer in
                    writer.prepend(signature)
                    writer.prepend(0)
                }
                algorithm(in: &writer)
                writer.prepend(signed)
            }
        }
        return PEM.encode(der, label: "CERTIFICATE")
    }

    private static func encoded(_ body: (inout DERWriter) -> Void) -> [UInt8] {
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 8192, alignment: 16)
        defer { scratch.deallocate() }
        var writer = DERWriter(scratch)
        body(&writer)
        return Array(writer.written)
    }

    /// Writes the part that is signed, from the end to the beginning.
    private static func content(of key: PrivateKey, name: String, times: ClosedRange<Int64>, in writer: inout DERWriter) {
        writer.wrap(.sequence) { writer in
            writer.wrap(.context3) { writer in
                writer.wrap(.sequence) { writer in
                    // The key signs tokens, and no certificates.
                    critical([0x55, 0x1D, 0x0F], [0x03, 0x02, 0x07, 0x80], in: &writer)
                    critical([0x55, 0x1D, 0x13], [0x30, 0x00], in: &writer)
                }
            }
            writer.prepend(key.publicKey.spki)
            self.name(name, in: &writer)
            writer.wrap(.sequence) { writer in
                time(times.upperBound, in: &writer)
                time(times.lowerBound, in: &writer)
            }
            self.name(name, in: &writer)
            algorithm(in: &writer)
            let serial = Hash.sha256(key.publicKey.spki).prefix(16)
            Array(serial).withUnsafeBytes { writer.prependUnsigned($0) }
            writer.wrap(.context0) { $0.wrap(.integer) { $0.prepend(2) } }
        }
    }

    /// sha256WithRSAEncryption, 1.2.840.113549.1.1.11
    private static func algorithm(in writer: inout DERWriter) {
        writer.wrap(.sequence) { writer in
            writer.wrap(.null) { _ in }
            writer.wrap(.objectIdentifier) { $0.prepend([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B]) }
        }
    }

    private static func critical(_ identifier: [UInt8], _ value: [UInt8], in writer: inout DERWriter) {
        writer.wrap(.sequence) { writer in
            writer.wrap(.octetString) { $0.prepend(value) }
            writer.prepend([0x01, 0x01, 0xFF])
            writer.wrap(.objectIdentifier) { $0.prepend(identifier) }
        }
    }

    /// Writes a distinguished name with only a common name.
    private static func name(_ text: String, in writer: inout DERWriter) {
        writer.wrap(.sequence) { writer in
            writer.wrap(.set) { writer in
                writer.wrap(.sequence) { writer in
                    writer.wrap(.utf8String) { $0.prepend(Array(text.utf8)) }
                    writer.wrap(.objectIdentifier) { $0.prepend([0x55, 0x04, 0x03]) }
                }
            }
        }
    }

    /// Years from 2050 need the longer form (RFC 5280 section 4.1.2.5).
    private static func time(_ seconds: Int64, in writer: inout DERWriter) {
        let time = CalendarTime(seconds)
        let fields = [time.month, time.day, time.hour, time.minute, time.second].map(CalendarTime.twoDigits).joined()
        let isShort = time.year < 2050
        let year = isShort ? CalendarTime.twoDigits(time.year % 100) : "\(time.year)"
        writer.wrap(isShort ? .utcTime : .generalizedTime) { $0.prepend(Array("\(year)\(fields)Z".utf8)) }
    }
}
