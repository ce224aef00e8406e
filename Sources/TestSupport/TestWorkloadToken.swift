import Contract
import Crypto
import JSON
import Platform
import ServiceContext

extension TestService {
    /// Signs a token with the claims of a family of workloads, with a key that is derived from the key of the store.
    public func workloadToken(_ request: TestWorkloadToken.Params, _ call: any CallContext) throws -> TestWorkloadToken.Result {
        let now = context.clock.now
        let family = WorkloadFamily(request.family)
        let issuer = request.issuer ?? family.issuer
        let key = try PrivateKey.generate(.ES256, from: StoreDerivedBytes(key: context.vault.subkey("test.workloadToken")))
        var claims = family.claims
        claims["iss"] = .string(issuer)
        if family.expires { claims["iat"] = .number(JSONNumber(now)) }
        if family.hasNotBefore { claims["nbf"] = .number(JSONNumber(now)) }
        if family.expires { claims["exp"] = .number(JSONNumber(now + request.expiresInSeconds)) }
        let header: JSONObject = ["alg": "ES256", "kid": "workload", "typ": "JWT"]
        let parts = [header.changed(by: request.header), claims.changed(by: request.claims)].map {
            Base64URL.encode(Array(JSONValue.object($0).text.utf8))
        }
        let signed = parts.joined(separator: ".")
        var writer = JSONWriter()
        key.jwk.write(to: &writer)
        var jwk = try JSONValue(parsing: writer.bytes).object ?? [:]
        jwk["kid"] = "workload"
        return TestWorkloadToken.Result(
            token: signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8))), issuer: issuer, keys: [EncodedObject(jwk)],
            audiences: family.audiences)
    }
}

/// Bytes that are always the same for one store, so that every process signs with the same key.
private struct StoreDerivedBytes: RandomSource {
    let key: SecretBytes

    func bytes(_ count: Int) -> [UInt8] { HKDF.sha256(secret: key, salt: [], info: "mintmark workload key", count: count).copy() }

    func draw(_ count: Int) -> RandomDraw { RandomDraw(bytes: bytes(count), number: 0) }
}

/// The claims of a family of workloads, without times.
private struct WorkloadFamily {
    let issuer: String
    let claims: JSONObject
    var audiences: [String] = ["sts.amazonaws.com"]
    /// Whether tokens have `iat` and `exp`; legacy tokens of Kubernetes have neither.
    var expires = true
    var hasNotBefore = true

    private static let sts: JSONValue = "sts.amazonaws.com"

    init(_ family: TestWorkloadToken.Params.Family) {
        switch family {
        case .github: (issuer, claims) = ("https://token.actions.githubusercontent.com", Self.github)
        case .gitlab: (issuer, claims) = ("https://gitlab.com", Self.gitlab)
        case .kubernetes: (issuer, claims) = ("https://cluster.example.org", Self.kubernetes)
        case .kubernetesLegacy:
            (issuer, claims) = ("kubernetes/serviceaccount", Self.legacy)
            (audiences, expires, hasNotBefore) = ([], false, false)
        case .spiffe:
            (issuer, claims) = ("https://oidc.example.org", ["sub": "spiffe://example.org/ns/shop/sa/api", "aud": ["mintmark"]])
            (audiences, hasNotBefore) = (["mintmark"], false)
        case .google:
            (issuer, claims) = ("https://accounts.google.com", Self.google)
            (audiences, hasNotBefore) = (["mintmark"], false)
        case .entra:
            (issuer, claims) = ("https://login.microsoftonline.com/\(Self.directory)/v2.0", Self.entra)
            audiences = ["22222222-3333-4444-5555-666666666666"]
        case .buildkite:
            (issuer, claims) = ("https://agent.buildkite.com", Self.buildkite)
            audiences = ["https://buildkite.com/octo-org"]
        case .circleci:
            (issuer, claims) = ("https://oidc.circleci.com/org/\(Self.organization)", Self.circleci)
            (audiences, hasNotBefore) = ([Self.organization], false)
        }
    }

    private static let directory = "11111111-2222-3333-4444-555555555555"
    private static let organization = "33333333-4444-5555-6666-777777777777"

    private static let github: JSONObject = [
        "aud": sts, "sub": "repo:octo-org/octo-repo:ref:refs/heads/main", "actor": "octocat", "actor_id": "12", "base_ref": "",
        "event_name": "push", "head_ref": "",
        "job_workflow_ref": "octo-org/octo-repo/.github/workflows/deploy.yml@refs/heads/main",
        "job_workflow_sha": "d1e7f8a9b0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5", "ref": "refs/heads/main", "ref_type": "branch",
        "ref_protected": "true", "repository": "octo-org/octo-repo", "repository_id": "74", "repository_owner": "octo-org",
        "repository_owner_id": "65", "repository_visibility": "private", "run_id": "9876543210", "run_number": "10", "run_attempt": "1",
        "runner_environment": "github-hosted", "sha": "d1e7f8a9b0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5", "workflow": "deploy",
        "workflow_ref": "octo-org/octo-repo/.github/workflows/deploy.yml@refs/heads/main",
        "workflow_sha": "d1e7f8a9b0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5", "jti": "0f4d2c1a-5a60-4a86-9f0a-1b2c3d4e5f60",
    ]

    private static let gitlab: JSONObject = [
        "aud": sts, "sub": "project_path:my-group/my-project:ref_type:branch:ref:main", "namespace_id": "72",
        "namespace_path": "my-group", "project_id": "20", "project_path": "my-group/my-project", "user_id": "1",
        "user_login": "sample-user", "user_email": "sample-user@example.com", "user_access_level": "developer", "pipeline_id": "574",
        "pipeline_source": "push", "job_id": "302", "ref": "main", "ref_type": "branch", "ref_path": "refs/heads/main",
        "ref_protected": "true", "runner_id": 1, "runner_environment": "gitlab-hosted",
        "environment": "production", "environment_protected": "true", "deployment_tier": "production",
        "sha": "714a629c0b401fdce83e847fc9589983fc6f46bc", "project_visibility": "private",
        "ci_config_ref_uri": "gitlab.com/my-group/my-project//.gitlab-ci.yml@refs/heads/main",
        "ci_config_sha": "714a629c0b401fdce83e847fc9589983fc6f46bc", "jti": "235b3a54-b797-45c7-ae9a-f72d7bc6ef5b",
    ]

    private static let kubernetes: JSONObject = [
        "aud": [sts], "sub": "system:serviceaccount:shop:api", "jti": "ea28ed49-2e11-4280-9ec5-bc3d1d84661a",
        "kubernetes.io": [
            "namespace": "shop", "serviceaccount": ["name": "api", "uid": "14ee3fa4-a7e2-420f-9f9a-dbc4507c3798"],
            "pod": ["name": "api-6d4cf56db6-zx9kq", "uid": "5e0c8f5e-2f63-4d0f-9a56-0f1f2b7d9c31"],
            "node": ["name": "node-1", "uid": "646e7c5e-32d6-4d42-9dbd-e504e6cbe6b1"],
        ],
    ]

    private static let legacy: JSONObject = [
        "sub": "system:serviceaccount:shop:api", "kubernetes.io/serviceaccount/namespace": "shop",
        "kubernetes.io/serviceaccount/secret.name": "api-token-x7k2p", "kubernetes.io/serviceaccount/service-account.name": "api",
        "kubernetes.io/serviceaccount/service-account.uid": "14ee3fa4-a7e2-420f-9f9a-dbc4507c3798",
    ]

    private static let google: JSONObject = [
        "aud": "mintmark", "sub": "113456789012345678901", "azp": "113456789012345678901",
        "email": "api@shop.iam.gserviceaccount.com", "email_verified": true,
    ]

    private static let entra: JSONObject = [
        "aud": "22222222-3333-4444-5555-666666666666", "sub": "44444444-5555-6666-7777-888888888888",
        "oid": "44444444-5555-6666-7777-888888888888", "azp": "55555555-6666-7777-8888-999999999999", "azpacr": "1", "idtyp": "app",
        "tid": .string(directory), "ver": "2.0", "rh": "0.AAAA", "uti": "kxJqmXyBoUOyPBJqKXEAAA", "aio": "E2NgYAAA",
    ]

    private static let buildkite: JSONObject = [
        "aud": "https://buildkite.com/octo-org",
        "sub": "organization:octo-org:pipeline:deploy:ref:refs/heads/main:commit:714a629c0b401fdce83e847fc9589983fc6f46bc:step:build",
        "organization_slug": "octo-org", "pipeline_slug": "deploy", "build_number": 5, "build_branch": "main", "build_tag": .null,
        "build_commit": "714a629c0b401fdce83e847fc9589983fc6f46bc", "step_key": "build", "job_id": "0184990a-477b-4fa8-9968-496074483cee",
        "agent_id": "0184990a-4782-42b5-afc1-16715b10b8ff", "build_source": "ui", "runner_environment": "buildkite-hosted",
    ]

    private static let circleci: JSONObject = [
        "aud": .string(organization),
        "sub":
            .string("org/\(organization)/project/66666666-7777-8888-9999-000000000000/user/77777777-8888-9999-0000-111111111111"),
        "oidc.circleci.com/project-id": "66666666-7777-8888-9999-000000000000",
        "oidc.circleci.com/context-ids": ["88888888-9999-0000-1111-222222222222"], "oidc.circleci.com/ssh-rerun": false,
        "oidc.circleci.com/vcs-origin": "github.com/octo-org/octo-repo", "oidc.circleci.com/vcs-ref": "refs/heads/main",
    ]
}
