# Tests of the identity provider, for all.bash. openssl verifies the tokens; a service in Python signs users in.
# shellcheck shell=bash disable=SC2154,SC2317

# verify ISSUER JWKS_URL AUDIENCE TOKEN: verifies an ES256 token with openssl and prints its subject, or the reason for which it is refused.
verify() {
    local header payload signature key claims folder=$work/verify
    IFS=. read -r header payload signature <<<"$4"
    mkdir -p "$folder"
    key=$(curl --silent --noproxy '*' "$2" | jq -c --arg kid "$(decoded "$header" | jq -r .kid)" '.keys[] | select(.kid == $kid and .alg == "ES256")')
    [[ -n $key ]] || { echo "unknown key"; return; }
    # The public key as SubjectPublicKeyInfo (RFC 5480): a constant beginning, then the point.
    { printf '\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00\x04'
      decoded "$(jq -r .x <<<"$key")"; decoded "$(jq -r .y <<<"$key")"; } >"$folder/key"
    # The signature as an ASN.1 sequence of its two numbers.
    local hex; hex=$(decoded "$signature" | od -An -v -tx1 | tr -d ' \n')
    printf 'asn1=SEQUENCE:s\n[s]\nr=INTEGER:0x%s\ns=INTEGER:0x%s\n' "${hex:0:64}" "${hex:64}" >"$folder/asn1"
    openssl asn1parse -genconf "$folder/asn1" -out "$folder/signature" -noout
    printf %s "$header.$payload" | openssl dgst -sha256 -verify "$folder/key" -keyform DER -signature "$folder/signature" >/dev/null 2>&1 || { echo "wrong signature"; return; }
    claims=$(decoded "$payload")
    if [[ $(jq -r .iss <<<"$claims") != "$1" ]]; then echo "wrong issuer"
    elif [[ $(jq -r .aud <<<"$claims") != "$3" ]]; then echo "wrong audience"
    elif (($(jq .exp <<<"$claims") <= $(date +%s))); then echo "expired"
    else jq -r .sub <<<"$claims"; fi
}
decoded() { local text=$1; while ((${#text} % 4)); do text+="="; done; tr -- '-_' '+/' <<<"$text" | base64 -d; }

check_token() { verify "$(jq -r .issuer idp.json)" "$(jq -r .jwksUrl idp.json)" "$(jq -r .audience idp.json)" "$1"; }

tokens_of_the_provider() {
    mintmark_testing --log /dev/null
    mintmark_idp_token 2>/dev/null
    is $? 64
    mintmark_idp >idp.json
    is "$(check_token "$(mintmark_idp_token)")" test-user
    is "$(check_token "$(mintmark_idp_token subject=alice claims[role]=admin)")" alice
    is "$(check_token "$(mintmark_idp_expired)")" expired
    is "$(check_token "$(mintmark_idp_foreign)")" "unknown key"
    is "$(check_token "$(mintmark_idp_token audience=billing)")" "wrong audience"
    is "$(check_token "$(mintmark_idp_token keyState=wrong)")" "wrong signature"
    mintmark_stop
}

clocks_of_the_provider() {
    local good seconds
    mintmark_testing --log /dev/null
    mintmark_idp orders >idp.json
    is "$(jq -r .audience idp.json)" orders
    good=$(mintmark_idp_token)
    for seconds in 7200 -14400; do
        mintmark_call test.clock advanceSeconds:="$seconds" >/dev/null
        is "$(check_token "$good") $(check_token "$(mintmark_idp_expired)")" "test-user expired"
    done
    mintmark_stop
}

# A service that signs users in, for a process of its own. The page /back exchanges the code, and keeps the address of the user in a cookie.
login_service() {
    exec python3 -B - "$1" <<'END'
import http.cookies, http.server, json, sys, urllib.parse, urllib.request

direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
provider = json.load(direct.open(sys.argv[1]))

class Service(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        back = f"http://127.0.0.1:{self.server.server_port}/back"
        cookies = http.cookies.SimpleCookie(self.headers.get("Cookie", ""))
        if url.path == "/login":
            query = {"client_id": "shop", "response_type": "code", "redirect_uri": back, "scope": "openid email", "state": "s1"}
            return self.say(302, {"Location": provider["authorization_endpoint"] + "?" + urllib.parse.urlencode(query), "Set-Cookie": "state=s1; Path=/"})
        given = dict(urllib.parse.parse_qsl(url.query))
        if url.path == "/back" and "state" in cookies and given.get("state") == cookies["state"].value:
            form = {"grant_type": "authorization_code", "code": given["code"], "redirect_uri": back, "client_id": "shop"}
            token = json.load(direct.open(provider["token_endpoint"], urllib.parse.urlencode(form).encode()))["access_token"]
            request = urllib.request.Request(provider["userinfo_endpoint"], headers={"Authorization": f"Bearer {token}"})
            return self.say(303, {"Location": "/me", "Set-Cookie": f"user={json.load(direct.open(request))['email']}; Path=/"})
        if "user" in cookies:
            return self.say(200, {}, cookies["user"].value)
        self.say(401, {}, "not signed in")

    def say(self, status, headers, text=""):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(text)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Service)
print(server.server_port, flush=True)
server.serve_forever()
END
}

logins_of_the_provider() {
    local port service account
    mintmark_testing --log /dev/null
    mintmark_idp >idp.json
    mkfifo port
    login_service "$(jq -r .discoveryUrl idp.json)" >port &
    service=$!
    read -r port <port
    # shellcheck disable=SC2064
    trap "kill $service; mintmark_stop" EXIT
    is "$(mintmark_idp_login --cookies jar "http://127.0.0.1:$port/login" alice@example.com)" alice@example.com
    is "$(curl --silent --noproxy '*' --cookie jar "http://127.0.0.1:$port/me")" alice@example.com
    [[ $(mintmark_idp_login "http://127.0.0.1:$port/me" alice@example.com 2>&1) == *"does not lead to the provider: the last answer of the service has the status 401"* ]] || exit 1
    account=$(mintmark_call account.create username=dave@example.com | jq -r .accountId)
    mintmark_call account.update accountId="$account" disabled:=true >/dev/null
    [[ $(mintmark_idp_login "http://127.0.0.1:$port/login" dave@example.com 2>&1) == *"has not signed in dave@example.com: status "* ]] || exit 1
}
