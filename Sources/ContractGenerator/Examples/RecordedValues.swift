import JSON

/// Recorded values for the `$names` of examples, which the documentation shows. The recorded key signed the recorded tokens.
enum RecordedValues {
    /// The values by name, with the dollar sign.
    static let all: JSONObject = try! JSONValue(
        parsing: ##"""
            {
              "$pool": "local-1:5e0c8f5e-2f63-4d0f-9a56-0f1f2b7d9c31",
              "$poolArn": "arn:aws:cognito-identity:local-1:000000000000:identitypool/local-1:5e0c8f5e-2f63-4d0f-9a56-0f1f2b7d9c31",
              "$issuer": "https://testing.mintmark.localhost/pools/local-1:5e0c8f5e-2f63-4d0f-9a56-0f1f2b7d9c31",
              "$graphTree": "account 0196f1d2-7b3c-4e52-9a41-5f0c6a7d8e90\n├─ leadsTo ← code alice@example.com\n└─ isSignedInTo ← session 0196f1d2-7b3c-4e52-9a41-5f0c6a7d8e91 (began ← code alice@example.com)\n",
              "$baseUrl": "http://127.0.0.1:41237",
              "$host": "127.0.0.1:41237",
              "$idpUrl": "http://127.0.0.1:41238", "$idpIssuer": "http://127.0.0.1:41238/default",
              "$idpDiscovery": "http://127.0.0.1:41238/default/.well-known/openid-configuration",
              "$idpJwks": "http://127.0.0.1:41238/default/jwks",
              "$resourceMetadata": "http://127.0.0.1:41238/default/protected-resource/0",
              "$eventId": "019aa1c5-7e00-7000-8000-000000000000",
              "$baseIssuer": "https://testing.mintmark.localhost",
              "$jwksUri": "https://testing.mintmark.localhost/pools/local-1:5e0c8f5e-2f63-4d0f-9a56-0f1f2b7d9c31/.well-known/jwks.json",
              "$tenantIssuer": "https://testing.mintmark.localhost/tenants/shop",
              "$defaultIssuer": "https://testing.mintmark.localhost/tenants/default",
              "$continuation": "AZ1mQ3uQRk2Xn0b7VxkS4QABcV8m0Cq3e1vY7s5hJrT2uLw9dKfPgNzB",
              "$nextContinuation": "AZ1mQ3uQRk2Xn0b7VxkS4QACk2Jd8sWv5uY1qLrT7mBxN0cGfHpZ3aEe",
              "$secretId": "0196f1d2-7b3c-4e52-9a41-5f0c6a7d8ea1", "$nextSecretId": "0196f1d2-7b3c-4e52-9a41-5f0c6a7d8ea2",
              "$clientSecret": "mmcs_q0Wn7B2cXk4mQvJ8s1tYh6Ru3ZaLpGe9Df5oNi0KbTw", "$hint": "KbTw",
              "$signedUp": "AZ1mQ3uQRk2Xn0b7VxkS4QACk2Jd8sWv5uY1qLrT7mBxN0cGfHpZ3aEe",
              "$assuranceConflicts": [{"pointer": "/lockCovers", "requirement": "asvs 6.3.4", "limit": "everyDoor"}],
              "$assuranceRequirements": [{"number": "asvs 6.2.10", "title": "No periodic change of passwords", "status": "pass"}],
              "$code": "48210375",
              "$account": "0196f1d2-7b3c-4e52-9a41-5f0c6a7d8e90",
              "$signInContinuation": "AZ1mQ3uQRk2Xn0b7VxkS4QABcV8m0Cq3e1vY7s5hJrT2uLw9dKfPgNzB",
              "$lastContinuation": "AZ1mQ3uQRk2Xn0b7VxkS4QADuY1qLrT7mBxN0cGfHpZ3aEek2Jd8sWv5",
              "$signInCode": "70315582",
              "$emailContinuation": "AZ1mQ3uQRk2Xn0b7VxkS4QABcV8m0Cq3e1vY7s5hJrT2uLw9dKfPgNzB",
              "$emailCode": "35908146",
              "$resetCode": "19463027",
              "$method": "code",
              "$userHandle": "q0Wn7B2cXk4mQvJ8s1tYh6Ru3ZaLpGe9Df5oNi0KbTw",
              "$creationOptions": {"rp": {"id": "example.org", "name": "example.org"}, "user": {"id": "q0Wn7B2cXk4mQvJ8s1tYh6Ru3ZaLpGe9Df5oNi0KbTw", "name": "alice@example.com", "displayName": "alice@example.com"}, "challenge": "AMMPt4UxxGTStncdq417YDwBFi8vpIa-pw8oOuVW4TA", "pubKeyCredParams": [{"type": "public-key", "alg": -7}], "timeout": 300000, "excludeCredentials": [], "authenticatorSelection": {"residentKey": "required", "requireResidentKey": true, "userVerification": "preferred"}, "attestation": "none", "extensions": {"credProps": true}},
              "$requestOptions": {"challenge": "OcDnUhQXulTUPo3JUXT0I97pvzzYBP9tZchXyav01Ag", "rpId": "example.org", "timeout": 300000, "userVerification": "preferred", "allowCredentials": []},
              "$ceremonyUntil": 1700000300, "$passkeyAt": 1700000000,
              "$factor": "q3F1b0hXc2Vyd2tYb1N5a2ZLc0Zq",
              "$totpSecret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
              "$otpauthUri": "otpauth://totp/default:alice%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=default&algorithm=SHA1&digits=6",
              "$recoveryCodes": ["4kqz-h7ma-x2wd-p5ru", "b6vt-3nce-y4ls-o2qa"],
              "$secondContinuation": "AZ1mQ3uQRk2Xn0b7VxkS4QABcV8m0Cq3e1vY7s5hJrT2uLw9dKfPgNzB",
              "$challenged": "AZ1mQ3uQRk2Xn0b7VxkS4QACk2Jd8sWv5uY1qLrT7mBxN0cGfHpZ3aEe",
              "$secondCode": "52918304",
              "$session": "c1b1d7de-0c9c-4f0a-9a5d-3f3d1f6d2b7e",
              "$bobsAccount": "0196f1d2-9a11-4c3d-8b7e-2d4f6a8c0e12",
              "$idToken": "eyJhbGciOiJFUzI1NiIsImtpZCI6IkN2SkhZU2tkQ3UyTUY1QzIxRUtmcVF3OTlTTU9IOE43MHJIbWswd2Z4T3ciLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJodHRwczovL3Rlc3RpbmcubWludG1hcmsubG9jYWxob3N0L3RlbmFudHMvZGVmYXVsdCJ9.c2lnbmF0dXJl",
              "$accessToken": "eyJhbGciOiJFUzI1NiIsImtpZCI6IkN2SkhZU2tkQ3UyTUY1QzIxRUtmcVF3OTlTTU9IOE43MHJIbWswd2Z4T3ciLCJ0eXAiOiJhdCtqd3QifQ.eyJpc3MiOiJodHRwczovL3Rlc3RpbmcubWludG1hcmsubG9jYWxob3N0L3RlbmFudHMvZGVmYXVsdCJ9.c2lnbmF0dXJl",
              "$refreshToken": "kq3vPp1zGk0v9tY7cRr5eQ8x2mWb4nJdLhUa6sFoXiM",
              "$bobsIdToken": "eyJhbGciOiJFUzI1NiIsImtpZCI6IkN2SkhZU2tkQ3UyTUY1QzIxRUtmcVF3OTlTTU9IOE43MHJIbWswd2Z4T3ciLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJodHRwczovL3Rlc3RpbmcubWludG1hcmsubG9jYWxob3N0L3RlbmFudHMvZGVmYXVsdCJ9.c2lnbmF0dXJl",
              "$freshIdToken": "eyJhbGciOiJFUzI1NiIsImtpZCI6IkN2SkhZU2tkQ3UyTUY1QzIxRUtmcVF3OTlTTU9IOE43MHJIbWswd2Z4T3ciLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJodHRwczovL3Rlc3RpbmcubWludG1hcmsubG9jYWxob3N0L3RlbmFudHMvZGVmYXVsdCJ9.c2lnbmF0dXJl",
              "$laterIdToken": "eyJhbGciOiJFUzI1NiIsImtpZCI6IkN2SkhZU2tkQ3UyTUY1QzIxRUtmcVF3OTlTTU9IOE43MHJIbWswd2Z4T3ciLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJodHRwczovL3Rlc3RpbmcubWludG1hcmsubG9jYWxob3N0L3RlbmFudHMvZGVmYXVsdCJ9.c2lnbmF0dXJl",
              "$freshAccessToken": "eyJhbGciOiJFUzI1NiIsImtpZCI6IkN2SkhZU2tkQ3UyTUY1QzIxRUtmcVF3OTlTTU9IOE43MHJIbWswd2Z4T3ciLCJ0eXAiOiJhdCtqd3QifQ.eyJpc3MiOiJodHRwczovL3Rlc3RpbmcubWludG1hcmsubG9jYWxob3N0L3RlbmFudHMvZGVmYXVsdCJ9.c2lnbmF0dXJl",
              "$nextRefreshToken": "Zr0aYbT6u3kqQv1mWc9sLx4nEd7hJgFpUiO2yXeRt8M",
              "$exchangedToken": "eyJhbGciOiJFUzI1NiIsImtpZCI6IkN2SkhZU2tkQ3UyTUY1QzIxRUtmcVF3OTlTTU9IOE43MHJIbWswd2Z4T3ciLCJ0eXAiOiJhdCtqd3QifQ.eyJpc3MiOiJodHRwczovL3Rlc3RpbmcubWludG1hcmsubG9jYWxob3N0L3RlbmFudHMvZGVmYXVsdCJ9.c2lnbmF0dXJl",
              "$exchangedExpiresAt": 1700000060,
              "$agent": "0196f1d2-9a11-4c3d-8b7e-2d4f6a8c0e13", "$agentLinkedAt": 1700000000,
              "$accountIssuer": "https://testing.mintmark.localhost/accounts/000000000000",
              "$webIdentityToken": "eyJhbGciOiJFUzM4NCIsImtpZCI6IkN2SkhZU2tkQ3UyTUY1QzIxRUtmcVF3OTlTTU9IOE43MHJIbWswd2Z4T3ciLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJodHRwczovL3Rlc3RpbmcubWludG1hcmsubG9jYWxob3N0L2FjY291bnRzLzAwMDAwMDAwMDAwMCJ9.c2lnbmF0dXJl",
              "$webIdentityExpiresAt": 1700000300,
              "$assertion": "eyJhbGciOiJFUzI1NiIsImtpZCI6ImVudGVycHJpc2UiLCJ0eXAiOiJvYXV0aC1pZC1qYWcrand0In0.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUuY29tIn0.c2lnbmF0dXJl",
              "$redeemedToken": "eyJhbGciOiJFUzI1NiIsImtpZCI6IkN2SkhZU2tkQ3UyTUY1QzIxRUtmcVF3OTlTTU9IOE43MHJIbWswd2Z4T3ciLCJ0eXAiOiJhdCtqd3QifQ.eyJpc3MiOiJodHRwczovL3Rlc3RpbmcubWludG1hcmsubG9jYWxob3N0L3RlbmFudHMvZGVmYXVsdCJ9.c2lnbmF0dXJl",
              "$redeemedExpiresAt": 1700003600,
              "$delegationToken": "eyJhbGciOiJFUzI1NiIsImtpZCI6IkN2SkhZU2tkQ3UyTUY1QzIxRUtmcVF3OTlTTU9IOE43MHJIbWswd2Z4T3ciLCJ0eXAiOiJhdCtqd3QifQ.eyJpc3MiOiJodHRwczovL3Rlc3RpbmcubWludG1hcmsubG9jYWxob3N0L3RlbmFudHMvZGVmYXVsdCJ9.c2lnbmF0dXJl",
              "$delegationExpiresAt": 1700000600,
              "$idTokenExpiresAt": 1700003600,
              "$cookie": "eyJhbGciOiJFUzI1NiIsImtpZCI6IkN2SkhZU2tkQ3UyTUY1QzIxRUtmcVF3OTlTTU9IOE43MHJIbWswd2Z4T3ciLCJ0eXAiOiJjb29raWUrand0In0.eyJpc3MiOiJodHRwczovL3Rlc3RpbmcubWludG1hcmsubG9jYWxob3N0L3RlbmFudHMvZGVmYXVsdCJ9.c2lnbmF0dXJl",
              "$cookieExpiresAt": 1700432000,
              "$oobCode": "Vq0bL8sX2nKf7yRt4wJc9hMz1pGd6uEa3oTiYxBvNkQ5lSr-Hf_Jm2Zw", "$oobExpiresAt": 1700003600,
              "$oobLink": "https://shop.example/action?mode=resetPassword&oobCode=Vq0bL8sX2nKf7yRt4wJc9hMz1pGd6uEa3oTiYxBvNkQ5lSr-Hf_Jm2Zw&tenantId=default",
              "$lastSignInAt": 1700000000,
              "$userCode": "WDJB-MJHT",
              "$flow": "AQ2b7XkT9sVmY4cJfW8LhR1gAAAAADx5uK0nPzQe3aBvHtC6iNyOwMrEjSd",
              "$flowExpiresAt": 1700000600,
              "$authorizationUrl": "https://github.com/login/oauth/authorize?client_id=Iv1.8a61f9b3a7aba766&response_type=code",
              "$sessionExpiresAt": 1707776000,
              "$subject": "48210375 is your code",
              "$text": "Your code is 48210375. It is good for 10 minutes.",
              "$resendAt": 1700000060,
              "$codeExpiresAt": 1700000600,
              "$continuationExpiresAt": 1700000300,
              "$alice": "local-1:b1f7a3c4-6d2e-4b7a-8c11-93d5e0a4f2b6",
              "$token": "eyJhbGciOiJFUzI1NiIsImtpZCI6IkN2SkhZU2tkQ3UyTUY1QzIxRUtmcVF3OTlTTU9IOE43MHJIbWswd2Z4T3ciLCJ0eXAiOiJwb29sK2p3dCJ9.eyJpc3MiOiJodHRwczovL3Rlc3RpbmcubWludG1hcmsubG9jYWxob3N0L3Bvb2xzL2xvY2FsLTE6NWUwYzhmNWUtMmY2My00ZDBmLTlhNTYtMGYxZjJiN2Q5YzMxIiwiYXVkIjoibG9jYWwtMTo1ZTBjOGY1ZS0yZjYzLTRkMGYtOWE1Ni0wZjFmMmI3ZDljMzEiLCJzdWIiOiJsb2NhbC0xOmIxZjdhM2M0LTZkMmUtNGI3YS04YzExLTkzZDVlMGE0ZjJiNiIsImFtciI6WyJhdXRoZW50aWNhdGVkIiwibG9naW4uc2hvcCIsImxvZ2luLnNob3A6bG9jYWwtMTo1ZTBjOGY1ZS0yZjYzLTRkMGYtOWE1Ni0wZjFmMmI3ZDljMzE6YWxpY2UiXSwiaHR0cHM6Ly9jb2duaXRvLWlkZW50aXR5LmFtYXpvbmF3cy5jb20vaWRlbnRpdHktcG9vbC1hcm4iOiJhcm46YXdzOmNvZ25pdG8taWRlbnRpdHk6bG9jYWwtMTowMDAwMDAwMDAwMDA6aWRlbnRpdHlwb29sL2xvY2FsLTE6NWUwYzhmNWUtMmY2My00ZDBmLTlhNTYtMGYxZjJiN2Q5YzMxIiwiaWF0IjoxNzAwMDAwMDAwLCJleHAiOjE3MDAwMDA5MDB9.hPSVW7_1KfqHYHkqtjoc7NxnUIdpAkP7KQ-vsNx1pjDHOK3fO2cBO6ooBu8goLFR72pPLXbvRKXNPMPD5TxrjA",
              "$taggedToken": "eyJhbGciOiJFUzI1NiIsImtpZCI6IkN2SkhZU2tkQ3UyTUY1QzIxRUtmcVF3OTlTTU9IOE43MHJIbWswd2Z4T3ciLCJ0eXAiOiJwb29sK2p3dCJ9.eyJpc3MiOiJodHRwczovL3Rlc3RpbmcubWludG1hcmsubG9jYWxob3N0L3Bvb2xzL2xvY2FsLTE6NWUwYzhmNWUtMmY2My00ZDBmLTlhNTYtMGYxZjJiN2Q5YzMxIiwiYXVkIjoibG9jYWwtMTo1ZTBjOGY1ZS0yZjYzLTRkMGYtOWE1Ni0wZjFmMmI3ZDljMzEiLCJzdWIiOiJsb2NhbC0xOmIxZjdhM2M0LTZkMmUtNGI3YS04YzExLTkzZDVlMGE0ZjJiNiIsImFtciI6WyJhdXRoZW50aWNhdGVkIiwibG9naW4uc2hvcCIsImxvZ2luLnNob3A6bG9jYWwtMTo1ZTBjOGY1ZS0yZjYzLTRkMGYtOWE1Ni0wZjFmMmI3ZDljMzE6YWxpY2UiXSwiaHR0cHM6Ly9jb2duaXRvLWlkZW50aXR5LmFtYXpvbmF3cy5jb20vaWRlbnRpdHktcG9vbC1hcm4iOiJhcm46YXdzOmNvZ25pdG8taWRlbnRpdHk6bG9jYWwtMTowMDAwMDAwMDAwMDA6aWRlbnRpdHlwb29sL2xvY2FsLTE6NWUwYzhmNWUtMmY2My00ZDBmLTlhNTYtMGYxZjJiN2Q5YzMxIiwiaWF0IjoxNzAwMDAwMDAwLCJleHAiOjE3MDAwMDM2MDAsImh0dHBzOi8vYXdzLmFtYXpvbi5jb20vdGFncyI6eyJwcmluY2lwYWxfdGFncyI6eyJwbGFuIjpbImdvbGQiXX19fQ.iuguQ8eDi2zdWBNGQ2JX5jBn2xTF3gK9uPTcAzkxNn_M32mdWzNAZU0FmPoq16AexjSzoUZhUkQvm-2lVqBXQw",
              "$claims": {
                "iss": "https://testing.mintmark.localhost/pools/local-1:5e0c8f5e-2f63-4d0f-9a56-0f1f2b7d9c31",
                "aud": "local-1:5e0c8f5e-2f63-4d0f-9a56-0f1f2b7d9c31",
                "sub": "local-1:b1f7a3c4-6d2e-4b7a-8c11-93d5e0a4f2b6",
                "amr": ["authenticated", "login.shop", "login.shop:local-1:5e0c8f5e-2f63-4d0f-9a56-0f1f2b7d9c31:alice"],
                "https://cognito-identity.amazonaws.com/identity-pool-arn": "arn:aws:cognito-identity:local-1:000000000000:identitypool/local-1:5e0c8f5e-2f63-4d0f-9a56-0f1f2b7d9c31",
                "iat": 1700000000,
                "exp": 1700000900
              },
              "$header": {"alg": "ES256", "kid": "CvJHYSkdCu2MF5C21EKfqQw99SMOH8N70rHmk0wfxOw", "typ": "pool+jwt"},
              "$claimsSupported": ["iss", "aud", "sub", "amr", "iat", "exp"],
              "$providers": [{"providerId": "code", "subject": "alice@example.com", "email": "alice@example.com"}],
              "$carolsAccount": "0196f1d2-a4c7-4f21-8d3e-6b5a4c3d2e1f",
              "$guestAccount": "0196f1d2-c9b1-4a7d-9e60-1f2e3d4c5b6a",
              "$pendingToken": "AV0ku4rZ1nq7cR2mYtLwG5bXo3sEa8dHj6Kf9pUvTiQxNzPy",
              "$pendingUntil": 1700000600,
              "$settingsCheck": "Its settings are complete.",
              "$keysCheck": "1 key is given with it.",
              "$statements": [],
              "$workloadToken": "eyJhbGciOiJFUzI1NiIsImtpZCI6Indvcmtsb2FkIiwidHlwIjoiSldUIn0.eyJpc3MiOiJodHRwczovL3Rva2VuLmFjdGlvbnMuZ2l0aHVidXNlcmNvbnRlbnQuY29tIn0.c2ln",
              "$workloadKeys": [{"kty": "EC", "crv": "P-256", "kid": "workload", "use": "sig", "alg": "ES256"}],
              "$tokenCheck": "The claim exp of the token is not accepted: it is valid for longer than 86400 s.",
              "$kid": "CvJHYSkdCu2MF5C21EKfqQw99SMOH8N70rHmk0wfxOw",
              "$x": "1dR9sC7OeTpbykP9j-veziCsxl0e-qJVDeaXGM_KKz4",
              "$y": "KJeh4CUzHgXucCx6DNImXPtNJSbkrDEops8sbz7qeAM",
              "$nextKid": "xsHJqchUPx5M2YAGTPFiXuthqQcDskZP_wOfIWglCLM",
              "$edKid": "nBYj8NOOKOlZTy7zGn7JCSkcT9sFp3fczS6Tan9AYBE",
              "$role": "arn:aws:iam::000000000000:role/reader",
              "$roleId": "AROA3K7Q2MZT5VXN4JWB6",
              "$assumedRoleId": "AROA3K7Q2MZT5VXN4JWB6:laptop",
              "$trustPolicy": {
                "Version": "2012-10-17",
                "Statement": [
                  {
                    "Effect": "Allow",
                    "Principal": {"Federated": "cognito-identity.amazonaws.com"},
                    "Action": ["sts:AssumeRoleWithWebIdentity", "sts:TagSession"],
                    "Condition": {
                      "StringEquals": {"cognito-identity.amazonaws.com:aud": "local-1:5e0c8f5e-2f63-4d0f-9a56-0f1f2b7d9c31"},
                      "ForAnyValue:StringLike": {"cognito-identity.amazonaws.com:amr": "authenticated"}
                    }
                  }
                ]
              },
              "$accessKeyId": "ASIA5T2RXQ7W4KMZN3VB",
              "$secretAccessKey": "K7gNU3sdo+OL0wNhqoVWhr3g6s1xYv72ol/pe/Un",
              "$sessionToken": "1O4fCfFmPA8q7N0HWywlQvextZvqRSNbKvZW_SZQ7E5H4p4Te4s56KjtFFa79z9RoDjbCOxrcsUrSnIFHwfTBdTuHwnxZjwPKuzdB1ssJUL3sbWb6kUjWyr2Vv0mUOxOR-KeE3uLOeio7RRWu_c_UaA42wjsa3LFK0pyBR8H0wXU7h8J8WY8Dyrs3QdbLCVC97G1m-pFI1sq9lb9JlDsTkfinhN7iznoqO0UVrv3P1GgONsI7GtyxStKcgUfB9MF",
              "$otherPool": "local-1:2c1d7f70-54b7-4a8e-8f0e-6f0f4c1b2a3d",
              "$otherPoolArn": "arn:aws:cognito-identity:local-1:000000000000:identitypool/local-1:2c1d7f70-54b7-4a8e-8f0e-6f0f4c1b2a3d",
              "$otherIssuer": "https://testing.mintmark.localhost/pools/local-1:2c1d7f70-54b7-4a8e-8f0e-6f0f4c1b2a3d",
              "$provider": "Qk3yqjZsVb0uXhS2tN7dOw",
              "$continuationToken": "Qk3yqjZsVb0uXhS2tN7dOw.b1Zr0m8YxJ5cLwQ4aT9fUe2HsKoGdPnE6iVqR7yXzA0",
              "$bob": "local-1:018bcfe5-6800-7000-a1b2-c3d4e5f60718",
              "$carol": "local-1:018bcfe5-6800-7002-9b0c-1d2e3f4a5b6c",
              "$guest": "local-1:018bcfe5-6800-7001-8a9b-0c1d2e3f4a5b",
              "$visitor": "local-1:018bcfe5-6800-7003-8c1d-2e3f4a5b6c7d",
              "$guestRole": "arn:aws:iam::000000000000:role/visitor",
              "$guestToken": "eyJhbGciOiJFUzI1NiIsImtpZCI6IkN2SkhZU2tkQ3UyTUY1QzIxRUtmcVF3OTlTTU9IOE43MHJIbWswd2Z4T3ciLCJ0eXAiOiJwb29sK2p3dCJ9.e30.signature",
              "$expiresSoon": 1700000600,
              "$now": 1700000000,
              "$rowCount": 14,
              "$startedAt": 1699999990,
              "$createdAt": 1700000000,
              "$linkedAt": 1700000000,
              "$updatedAt": 1700000000,
              "$signedInAt": 1700000000,
              "$activeAt": 1700000000,
              "$activeLater": 1700086400,
              "$revokedAt": 1700000060,
              "$replacedAt": 1700000060,
              "$revocationExpiresAt": 1700043260,
              "$expiresAt": 1700000900,
              "$expiresLater": 1700003600,
              "$version": "0.1.0",
              "$schemaVersion": 2,
              "$methods": 55,
              "$backupPath": "/home/me/backup.db",
              "$epoch": 3,
              "$bytes": 188416,
              "$freeBytes": 0,
              "$commits": 4,
              "$writes": 5,
              "$rows": {"pool": 1, "signing_key": 1, "identity": 0, "login": 0, "role": 0, "audit": 1},
              "$fingerprint": "bdca4b2a93c1",
              "$previousFingerprint": "2f1c60f7a95e",
              "$calls": 3,
              "$poolWaits": 0,
              "$retries": 0,
              "$checks": [{"name": "store", "ok": true}, {"name": "keys", "ok": true}],
              "$methodMetrics": [
                {
                  "method": "system.ping",
                  "calls": 2,
                  "errors": 0,
                  "totalMicroseconds": 31,
                  "latency": [{"upToMicroseconds": 16, "count": 1}, {"upToMicroseconds": 32, "count": 1}]
                }
              ],
              "$chain": "9b2f6c1e-7a53-4e0d-b8c4-2d6f1a90e357",
              "$auditHash": "uB83oEOm92fnyU0QX0vTEoLz7MIGgLudCb2TRhz0yGM",
              "$openrpc": {"openrpc": "1.4.1", "info": {"title": "Mintmark", "version": "0.1.0"}, "methods": []}
            }
            """##
    ).object!

    /// Returns `value` with every `$name` replaced.
    static func fill(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): return all[text] ?? value
        case .array(let elements): return .array(elements.map(fill))
        case .object(let object):
            var filled = JSONObject()
            for (name, value) in object.members { filled[name] = fill(value) }
            return .object(filled)
        case .null, .bool, .number: return value
        }
    }

    /// Returns every `$name` in `value`.
    static func names(in value: JSONValue) -> [String] {
        switch value {
        case .string(let text): return text.hasPrefix("$") ? [text] : []
        case .array(let elements): return elements.flatMap(names)
        case .object(let object): return object.members.flatMap { names(in: $0.value) }
        case .null, .bool, .number: return []
        }
    }
}
