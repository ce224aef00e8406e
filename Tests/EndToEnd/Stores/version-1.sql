-- A testing store of schema version 1 with some data, as the program wrote it that knew no other version; its clock stands at
-- 1700000000. Its master key and what was answered are in version-1.json.
CREATE TABLE store_fact (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO store_fact VALUES ('testing', 'true');
INSERT INTO store_fact VALUES ('id', '27528670-7e25-4746-8df0-8c3f6c6410dd');
INSERT INTO store_fact VALUES ('clock.frozenAt', '1700000000');
INSERT INTO store_fact VALUES ('clock.offset', '0');
CREATE TABLE data_key (
    id TEXT PRIMARY KEY, master_fingerprint TEXT NOT NULL, sealed BYTEA NOT NULL, created_at BIGINT NOT NULL);
INSERT INTO data_key VALUES ('ca642ff9-7ab6-4da4-bbf6-1d201de9bfc5', '3228dcca5583', X'0168d76e6619ec7ec367abe43c4d67ca4c83e20f90c1322481456ed81366e6bf8e7996444a2e3dcc69ab79696e49ddd9d2c941d3e038acc007ce038d07cf7d1b6272963f0645402b877922125293692748', 1795249127);
CREATE TABLE pool (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, allow_unauthenticated BOOLEAN NOT NULL, allow_classic_flow BOOLEAN NOT NULL,
    developer_provider TEXT, signing_algorithm TEXT NOT NULL, tags TEXT NOT NULL,
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL);
INSERT INTO pool VALUES ('local-1:00000000-0000-0000-0000-000000000001', 'shop', FALSE, FALSE, 'login.shop', 'ES256', '{"team":"web"}', 1700000000, 1700000000);
CREATE TABLE pool_role (
    pool_id TEXT NOT NULL REFERENCES pool (id) ON DELETE CASCADE, kind TEXT NOT NULL, role_name TEXT NOT NULL,
    PRIMARY KEY (pool_id, kind));
INSERT INTO pool_role VALUES ('local-1:00000000-0000-0000-0000-000000000001', 'authenticated', 'reader');
CREATE TABLE identity (
    id TEXT PRIMARY KEY, pool_id TEXT NOT NULL REFERENCES pool (id) ON DELETE CASCADE, state TEXT NOT NULL,
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL);
CREATE INDEX identity_of_pool ON identity (pool_id, id);
INSERT INTO identity VALUES ('local-1:018bcfe5-6800-7001-9325-9dc740f2f023', 'local-1:00000000-0000-0000-0000-000000000001', 'authenticated', 1700000000, 1700000000);
INSERT INTO identity VALUES ('local-1:018bcfe5-6800-7003-9dda-5566c10ad582', 'local-1:00000000-0000-0000-0000-000000000001', 'authenticated', 1700000000, 1700000000);
CREATE TABLE login (
    pool_id TEXT NOT NULL, provider TEXT NOT NULL, subject TEXT NOT NULL,
    identity_id TEXT NOT NULL REFERENCES identity (id) ON DELETE CASCADE, linked_at BIGINT NOT NULL,
    PRIMARY KEY (pool_id, provider, subject));
CREATE INDEX login_of_identity ON login (identity_id);
INSERT INTO login VALUES ('local-1:00000000-0000-0000-0000-000000000001', 'login.shop', 'alice', 'local-1:018bcfe5-6800-7001-9325-9dc740f2f023', 1700000000);
INSERT INTO login VALUES ('local-1:00000000-0000-0000-0000-000000000001', 'login.shop', 'bob', 'local-1:018bcfe5-6800-7003-9dda-5566c10ad582', 1700000000);
CREATE TABLE signing_key (
    kid TEXT PRIMARY KEY, owner TEXT NOT NULL, algorithm TEXT NOT NULL, jwk TEXT NOT NULL, sealed BYTEA NOT NULL,
    position BIGINT NOT NULL, created_at BIGINT NOT NULL, active_at BIGINT NOT NULL, revoked_at BIGINT);
CREATE INDEX signing_key_of_owner ON signing_key (owner, active_at);
INSERT INTO signing_key VALUES ('Zp8Ka_1IeqgxI8X866lwj80yBlV_qahRAAuC6mrMeZ4', 'pools/local-1:00000000-0000-0000-0000-000000000001', 'ES256', '{"crv":"P-256","kty":"EC","x":"0Obd5wWWQnk1m_esa-dkTOrVxtPkgjPqRCH2xMTVp7Q","y":"YKEuK23bVyLRYEouGq77w4Abn23bx5taCKCVq8cVeEw","use":"sig","alg":"ES256","kid":"Zp8Ka_1IeqgxI8X866lwj80yBlV_qahRAAuC6mrMeZ4"}', X'01641b1ac5a7dd2e1c969a4be964d2944ca20de870a8e6b21a207cf26d4e5f8b478d9cd05d7f35c7543df733d64fa8e841b46893f30aeebfa96b56e937050ec6e1aaa73f1b15aa50660cfe6c22297cd5c43b078ccad15bfe4925c8688b77d71e2fce8351185d824930a7dc533bde2e53ef39ada5c1a106ed06ef4b0961a9bf6658f58d645a5c2ff3191f542c0c03897ea667d0c7df2abc47ad46d113fe67d39531157ab3c16367674db7ce87904252c6acecb7a5fcad87a95d31c5', 1, 1700000000, 1700000000, NULL);
CREATE TABLE role (
    name TEXT PRIMARY KEY, role_id TEXT NOT NULL, trust_policy TEXT NOT NULL, max_session_seconds BIGINT NOT NULL,
    tags TEXT NOT NULL,
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL);
INSERT INTO role VALUES ('reader', 'AROAHPARLWEFD7DLXAPY', '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"cognito-identity.amazonaws.com"},"Action":["sts:AssumeRoleWithWebIdentity","sts:TagSession"],"Condition":{"StringEquals":{"cognito-identity.amazonaws.com:aud":"local-1:00000000-0000-0000-0000-000000000001"},"ForAnyValue:StringLike":{"cognito-identity.amazonaws.com:amr":"authenticated"}}}]}', 3600, '{}', 1700000000, 1700000000);
CREATE TABLE session_key (id TEXT PRIMARY KEY, sealed BYTEA NOT NULL, created_at BIGINT NOT NULL);
INSERT INTO session_key VALUES ('88a390847f9e5412', X'01401dbd00545bdf243d1358fd2f1782eb6491388f9efd290affea4df5213129ffbda04643141db207c286b015fe96958fffd6a79db54d4166bcd345b711aa4dbd19f4a54e7643f701d3a3efa74a99a24e', 1795249127);
CREATE TABLE revocation (
    kind TEXT NOT NULL, target TEXT NOT NULL, issued_before BIGINT NOT NULL, recorded_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL, PRIMARY KEY (kind, target));
INSERT INTO revocation VALUES ('identityId', 'local-1:018bcfe5-6800-7003-9dda-5566c10ad582', 1700000000, 1700000000, 1700086400);
CREATE TABLE audit (
    chain TEXT NOT NULL, number BIGINT NOT NULL, at BIGINT NOT NULL, method TEXT NOT NULL, trace TEXT,
    pool_id TEXT, identity_id TEXT, subject TEXT, details TEXT NOT NULL, mac BYTEA NOT NULL, PRIMARY KEY (chain, number));
CREATE INDEX audit_at ON audit (at, chain, number);
INSERT INTO audit VALUES ('bc646f3f-c805-4a93-9904-9afe39371d2a', 1, 1700000000, 'pool.create', NULL, 'local-1:00000000-0000-0000-0000-000000000001', NULL, NULL, '{"kid":"Zp8Ka_1IeqgxI8X866lwj80yBlV_qahRAAuC6mrMeZ4"}', X'680a8703d388f192c5330e980d481f2a4b7d09958db7288cefdf68b14590445e');
INSERT INTO audit VALUES ('bc646f3f-c805-4a93-9904-9afe39371d2a', 2, 1700000000, 'role.put', NULL, 'local-1:00000000-0000-0000-0000-000000000001', NULL, 'arn:aws:iam::000000000000:role/reader', '{}', X'e9c4d88d60a348b079cea6ba5cbfffc37d7a2134ba360d5517e19ab3b7eb4569');
INSERT INTO audit VALUES ('bc646f3f-c805-4a93-9904-9afe39371d2a', 3, 1700000000, 'pool.setRoles', NULL, 'local-1:00000000-0000-0000-0000-000000000001', NULL, NULL, '{"authenticated":"arn:aws:iam::000000000000:role/reader"}', X'b05911ccf4610e468b5daf56a9a8ede44294e28c7d66937c31de3da1463e20c5');
INSERT INTO audit VALUES ('bc646f3f-c805-4a93-9904-9afe39371d2a', 4, 1700000000, 'token.mintForDeveloper', NULL, 'local-1:00000000-0000-0000-0000-000000000001', 'local-1:018bcfe5-6800-7001-9325-9dc740f2f023', NULL, '{"isNewIdentity":true}', X'cae5787d768d43e79f0fad66deb90fca45e4fe1f709f0befe87b0c33d3f1879b');
INSERT INTO audit VALUES ('bc646f3f-c805-4a93-9904-9afe39371d2a', 5, 1700000000, 'token.mintForDeveloper', NULL, 'local-1:00000000-0000-0000-0000-000000000001', 'local-1:018bcfe5-6800-7003-9dda-5566c10ad582', NULL, '{"isNewIdentity":true}', X'da00ccf7b6d0b461d84ba687645ffd64a81f605cdd0e586fc23fe24bdef5b32c');
INSERT INTO audit VALUES ('bc646f3f-c805-4a93-9904-9afe39371d2a', 6, 1700000000, 'credentials.revoke', NULL, NULL, 'local-1:018bcfe5-6800-7003-9dda-5566c10ad582', 'local-1:018bcfe5-6800-7003-9dda-5566c10ad582', '{"issuedBefore":1700000000}', X'2203b2831c49972215cbe690cb0523e5f928f8b4e7be8f61cabc451233619be8');
CREATE TABLE mintmark_meta (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
INSERT INTO mintmark_meta VALUES ('schema_version', 1);
INSERT INTO mintmark_meta VALUES ('epoch', 4);
