# The OpenID Connect provider of a testing store, for tests of a service. The service accepts mintmark_idp_token, and must refuse mintmark_idp_expired
# and mintmark_idp_foreign. Users sign in with their email address alone; an unknown address gets an account.
# shellcheck shell=bash disable=SC2154

# mintmark_idp [--as NAME] [AUDIENCE]: starts the provider, and prints {"issuer", "jwksUrl", "discoveryUrl", "audience"}. The audience is that of tokens
# for which no other one is given, test by default.
mintmark_idp() {
    local - as=default answer
    set +eufxC
    [[ ${1-} != --as ]] || { as=${2-}; shift 2; }
    answer=$(mintmark_call --as "$as" test.idp '{"issuers":[{"name":"default","passwordless":true,"createAccounts":true}]}') || return
    jq -c --arg audience "${1:-test}" '. + {audience: $audience}' <<<"$answer" >|"${_mintmark_folder[$as]}/idp" || return
    jq -c '{issuer, jwksUrl, discoveryUrl, audience}' "${_mintmark_folder[$as]}/idp"
}

# mintmark_idp_token [--as NAME] [PARAMETER…]: prints a valid access token. The parameters are those of test.token, such as subject=alice, and are
# written as for mintmark_call. Its times are those of Mintmark's clock, which test.clock moves. The clock of your service does not move with it.
mintmark_idp_token() { _mintmark_idp_sign '.' "$@"; }

# mintmark_idp_expired [--as NAME] [PARAMETER…]: prints a token that expired an hour ago, by the clock of Mintmark and by the real time, and that is
# valid otherwise.
mintmark_idp_expired() {
    local - as=default now
    set +eufxC
    [[ ${1-} != --as ]] || as=${2-}
    now=$(mintmark_call --as "$as" test.clock | jq .now) || return
    _mintmark_idp_sign ".claims = {iat: (([$now, (now | floor)] | min) - 7200), exp: (([$now, (now | floor)] | min) - 3600)} + (.claims // {})" "$@"
}

# mintmark_idp_foreign [--as NAME] [PARAMETER…]: prints a token of an issuer that your service does not know, and that is valid otherwise.
mintmark_idp_foreign() {
    local - as=default issuer
    set +eufxC
    [[ ${1-} != --as ]] || as=${2-}
    issuer=$(mintmark_call --as "$as" test.idp '{"issuers":[{"name":"foreign"}]}' | jq '.issuers[] | select(.name == "foreign").issuer') || return
    _mintmark_idp_sign ". + {issuer: $issuer}" "$@"
}

# Signs a token with the parameters after the jq filter.
_mintmark_idp_sign() {
    local - as=default change=$1 REPLY provider defaults
    shift
    set +eufxC
    [[ ${1-} != --as ]] || { as=${2-}; shift 2; }
    _mintmark_is_started "$as" || return
    provider=${_mintmark_folder[$as]}/idp
    [[ -s $provider ]] || { _mintmark_fail refused "The provider has not been started. Call mintmark_idp first."; return; }
    REPLY="{}"
    (($# == 0)) || _mintmark_parameters "$@" || { _mintmark_fail refused "No token was signed: $REPLY."; return; }
    defaults=$(jq -c '{issuer, subject: "test-user", audience, use: "access"}' "$provider")
    jq -sc ".[0] + .[1] | $change" <<<"$defaults $REPLY" | mintmark_call --as "$as" test.token - | jq -r .token
}

# mintmark_idp_login [--as NAME] [--cookies FILE] URL EMAIL: signs a user in at your service as a browser does, with curl, and prints the body of the last
# response. URL is the page of the service that starts the login by a redirect to the provider. FILE gets the cookies with which the user is signed in.
mintmark_idp_login() {
    local - as=default provider folder cookies="" url base status next host="" hops=0
    set +eufxC
    while [[ ${1-} == --as || ${1-} == --cookies ]]; do
        if [[ $1 == --as ]]; then as=${2-}; else cookies=${2-}; fi
        shift 2
    done
    (($# == 2)) || { _mintmark_fail refused "mintmark_idp_login takes the URL of a page and an email address."; return; }
    _mintmark_is_started "$as" || return
    provider=${_mintmark_folder[$as]}/idp
    [[ -s $provider ]] || { _mintmark_fail refused "The provider has not been started. Call mintmark_idp first."; return; }
    command -v curl >/dev/null || { _mintmark_fail refused "The program curl is not installed. On Debian and Ubuntu: apt-get install curl."; return; }
    base=$(jq -r .baseUrl "$provider")
    folder=$(mktemp -d) || return
    url=$1
    while :; do
        read -r status next < <(_mintmark_idp_fetch "${cookies:-$folder/service}" "$folder/body" "$url")
        if [[ -z ${next-} ]] || ((++hops > 20)); then break; fi
        if [[ $next == "$base"/* ]]; then
            url=$next
            read -r status next < <(_mintmark_idp_fetch "$folder/provider" "$folder/body" "$url" --data-urlencode step=address --data-urlencode "email=$2")
            while [[ ${next-} == "$base"/* ]]; do
                read -r status next < <(_mintmark_idp_fetch "$folder/provider" "$folder/body" "$next")
            done
            if [[ -z ${next-} ]]; then
                _mintmark_fail refused "The provider has not signed in $2: status $status, $(sed -E 's/<style.*<\/style>//; s/<[^>]*>/ /g' "$folder/body" | tr -s ' \n' ' ' | cut -c 1-300)"
                rm -rf "$folder"
                return 1
            fi
            host=${next#*//} host=${host%%/*}
        elif [[ -n $host && $next != *"//$host/"* ]]; then
            break # The service sends the browser elsewhere; the login is over.
        fi
        url=$next
    done
    if [[ -z $host ]]; then
        _mintmark_fail refused "$1 does not lead to the provider: the last answer of the service has the status $status. Configure the issuer $(jq -r .issuer "$provider") in the service."
        rm -rf "$folder"
        return 1
    fi
    cat "$folder/body"
    rm -rf "$folder"
}

# Requests a page without following redirects. Prints the status and the target of the redirect.
_mintmark_idp_fetch() {
    local cookies=$1 body=$2 url=$3
    shift 3
    : >"$body"
    curl --silent --max-time 60 --noproxy '*' --cookie "$cookies" --cookie-jar "$cookies" --output "$body" --write-out '%{http_code} %{redirect_url}\n' "$@" "$url"
}
