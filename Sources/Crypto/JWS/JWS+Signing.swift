extension JWS {
    /// Signs one payload; who signs many under one header keeps a `JWSSigner`. Answers the compact form.
    ///
    /// - Throws: `CryptoFailure`.
    public static func sign(
        payload: [UInt8], with key: PrivateKey, type: String, keyID: String? = nil
    ) throws(CryptoFailure) -> String {
        try JWSSigner(key, type: type, keyID: keyID).sign(payload)
    }
}
