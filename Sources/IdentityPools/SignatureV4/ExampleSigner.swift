import Crypto
import Platform

/// Signs a GET request with the result of `credentials.get`, for the demo. Applications use their own signers.
public enum ExampleSigner {
    public static func get(
        _ url: String, accessKeyId: String, secret: String, sessionToken: String, now: Int64 = SystemClock().now
    ) -> (url: String, headers: [(name: String, value: String)]) {
        let timestamp = AmzDate.text(now)
        let scope = SignedHTTPRequest.Scope(date: String(timestamp.prefix(8)), region: "us-east-1", service: "execute-api")
        let target = RequestURL(url)
        var headers: [(name: String, value: String)] = [
            ("host", target.host ?? ""), ("x-amz-date", timestamp), ("x-amz-security-token", sessionToken),
        ]
        let request = SignedHTTPRequest(
            method: "GET", path: target.path, parameters: target.parameters, headers: headers, bodySha256: nil, accessKeyId: accessKeyId,
            scope: scope, timestamp: timestamp, signedAt: now, signedHeaders: headers.map(\.name), signature: "", expiresSeconds: nil,
            sessionToken: sessionToken)
        let signature = SignatureV4.signature(of: request, secret: secret)
        headers.append(
            (
                "authorization",
                "\(SignatureV4.algorithm) Credential=\(accessKeyId)/\(scope.text), SignedHeaders=\(headers.map(\.name).joined(separator: ";")), Signature=\(signature)"
            ))
        return (url, headers)
    }
}
