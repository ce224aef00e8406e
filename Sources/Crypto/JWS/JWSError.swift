import JSON

/// Why a JWS was refused: which check failed, and on what.
public enum JWSError: Error, Hashable, Sendable {
    /// Not a JWS in compact form (RFC 7515 section 7.1).
    case malformed(Malformation)
    /// `alg` is `none`, an HMAC, or unknown here (RFC 8725 sections 2.1 and 3.1).
    case algorithmNotAllowed(String)
    /// `alg` is not the algorithm the key is pinned to.
    case algorithmMismatch(header: SignatureAlgorithm, key: SignatureAlgorithm)
    /// `crit` demands extensions; we understand none (RFC 7515 section 4.1.11).
    case criticalHeader([String])
    /// No key is known under the header's `kid`, or no single key fits when it names none.
    case unknownKey(keyID: String?)
    /// The signature is not this key's signature of this text.
    case badSignature

    /// What about the text is wrong.
    public enum Malformation: Hashable, Sendable {
        /// Longer than the caller allows.
        case tooLong
        /// Not exactly three parts with dots between them.
        case parts
        /// A part is not base64url in its one strict form: no padding, no other alphabet, no stray bits.
        case encoding(Part)
        /// The header is not strict JSON; a name that stands twice counts too.
        case headerSyntax(JSONSyntaxError)
        /// The header is JSON but not an object.
        case headerNotObject
        /// This header parameter is missing or has the wrong type.
        case headerParameter(String)
    }

    /// One of the three parts.
    public enum Part: String, Hashable, Sendable { case header, payload, signature }
}
