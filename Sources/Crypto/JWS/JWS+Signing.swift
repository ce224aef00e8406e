extension JWS {
    /// Signs one payload and returns the compact form. To sign many payloads under one header, use a `JWSSigner`.
    ///
    /// - Throws: `CryptoFailure`.
    public static func sign(
        payload: [UInt8], with key: PrivateKey, type: String, keyID: String? = nil
    ) throws(CryptoFailure) -> String {
        try JWSSigner(key, type: type, keyID: keyID).sign(payload)
    }
}
