import JSON

/// The reason a JWS was rejected: the failed check and its details.
public enum JWSError: Error, Hashable, Sendable {
    /// The text is not a JWS in compact form (RFC 7515 section 7.1).
    case malformed(Malformation)
    /// `alg` is `none`, an HMAC, or unknown (RFC 8725 sections 2.1 and 3.1).
    case algorithmNotAllowed(String)
    /// `alg` is not the algorithm of the key.
    case algorithmMismatch(header: SignatureAlgorithm, key: SignatureAlgorithm)
    /// `crit` requires extensions, none of which are supported (RFC 7515 section 4.1.11).
    case criticalHeader([String])
    /// No key has the header's `kid`, or the header has no `kid` and the number of matching keys is not one.
    case unknownKey(keyID: String?)
    /// The signature is not valid for this key and text.
    case badSignature

    /// The syntax error in the text.
    public enum Malformation: Hashable, Sendable {
        /// The text is longer than the caller allows.
        case tooLong
        /// The text does not consist of exactly three parts separated by dots.
        case parts
        /// A part is not strict base64url: without padding, without other characters, without extra bits.
        case encoding(Part)
        /// The header is not strict JSON. Duplicate names are also rejected.
        case headerSyntax(JSONSyntaxError)
        /// The header is JSON but not an object.
        case headerNotObject
        /// The header parameter is missing or has the wrong type.
        case headerParameter(String)
    }

    /// One of the three parts.
    public enum Part: String, Hashable, Sendable { case header, payload, signature }
}
