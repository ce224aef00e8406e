# CredentialsProvider: keeps the temporary credentials of one user valid. If a token of the application's backend is required, it calls a function of
# the script with the logins, as a JSON object, and the stored identity ID, if any. The function prints the result that the backend got from
# token.mintForDeveloper, {"identityId", "token"}. Any number of subshells may share a provider; concurrent calls share one call of the function.
# shellcheck shell=bash disable=SC2154

# The client and the token function of each provider.
declare -gA _mintmark_provider_client=() _mintmark_token_source=()

# mintmark_provider_open [--as CLIENT] PROVIDER FUNCTION poolId=… [PARAMETER…]: opens a provider. The parameters are those of
# credentialsProvider.open.
mintmark_provider_open() {
    local - as=default base name function logins
    set +eufxC
    [[ ${1-} != --as ]] || { as=${2-}; shift 2; }
    (($# > 2)) || { _mintmark_fail refused "mintmark_provider_open takes a name for the provider, a function that prints tokens, and poolId=…"; return; }
    name=$1 function=$2
    shift 2
    declare -F "$function" >/dev/null || { _mintmark_fail refused "The function $function, which prints tokens, does not exist."; return; }
    [[ $name =~ ^[A-Za-z0-9_-]+$ ]] || { _mintmark_fail refused "The name of a provider consists of letters, digits, hyphens and underscores."; return; }
    _mintmark_is_started "$as" || return
    command -v flock >/dev/null || { _mintmark_fail refused "The program flock is not installed. On Debian and Ubuntu: apt-get install util-linux."; return; }
    base=${_mintmark_folder[$as]}/provider-$name
    _mintmark_parameters "$@" || { _mintmark_fail refused "$name was not opened: $REPLY."; return; }
    logins=$(jq -c '.logins // empty' <<<"$REPLY")
    jq -c '{tokenSource: "caller"} + del(.logins)' <<<"$REPLY" >"$base.params"
    printf '%s' "$logins" >"$base.logins"
    : >"$base.handle"
    rm -f "$base.closed"
    _mintmark_provider_client[$name]=$as _mintmark_token_source[$name]=$function
}

# mintmark_provider_get PROVIDER [--refresh]: prints valid credentials, with identityId and roleArn.
mintmark_provider_get() {
    local - more=""
    set +eufxC
    _mintmark_is_open "${1-}" || return
    [[ ${2-} != --refresh ]] || more=',"refresh":true'
    _mintmark_ready "$1" credentialsProvider.get "$more" && printf '%s\n' "$REPLY"
}

# mintmark_provider_identity_id PROVIDER: prints the ID of the identity.
mintmark_provider_identity_id() {
    local -
    set +eufxC
    _mintmark_is_open "${1-}" || return
    _mintmark_ready "$1" credentialsProvider.identityId "" && jq -r .identityId <<<"$REPLY"
}

# mintmark_provider_set_logins PROVIDER PARAMETER…: replaces the logins with name=token parameters or one JSON object. The provider keeps its
# identity, unless the logins belong to another one.
mintmark_provider_set_logins() {
    local - each
    local -a members=()
    set +eufxC
    _mintmark_is_open "${1-}" || return
    (($# > 1)) || { _mintmark_fail refused "mintmark_provider_set_logins takes name=token, or {} for a guest."; return; }
    if [[ ${2-} == '{'* ]]; then members=("logins:=$2"); else for each in "${@:2}"; do members+=("logins[${each%%=*}]=${each#*=}"); done; fi
    _mintmark_parameters "${members[@]}" || { _mintmark_fail refused "The logins were not set: $REPLY."; return; }
    members=("${REPLY:1:-1}")
    printf '%s' "${members[0]#'"logins":'}" >|"${_mintmark_folder[${_mintmark_provider_client[$1]}]}/provider-$1.logins"
    _mintmark_do "$1" credentialsProvider.setLogins ",${members[0]}"
}

# mintmark_provider_clear_credentials PROVIDER: removes the credentials and keeps the identity.
mintmark_provider_clear_credentials() { local -; set +eufxC; _mintmark_is_open "${1-}" && _mintmark_do "$1" credentialsProvider.clearCredentials ""; }

# mintmark_provider_clear_keychain PROVIDER: removes credentials, identity and logins, for a sign-out or a change of user.
mintmark_provider_clear_keychain() {
    local -
    set +eufxC
    _mintmark_is_open "${1-}" || return
    : >|"${_mintmark_folder[${_mintmark_provider_client[$1]}]}/provider-$1.logins"
    _mintmark_do "$1" credentialsProvider.clearKeychain ""
}

# mintmark_provider_close PROVIDER: discards the state in memory. The store keeps the identity ID under its key.
mintmark_provider_close() {
    local -
    set +eufxC
    _mintmark_is_open "${1-}" || return
    local base=${_mintmark_folder[${_mintmark_provider_client[$1]}]}/provider-$1
    : >|"$base.closed"
    # A provider that no call has opened requires no request.
    [[ -s $base.handle ]] || return 0
    _mintmark_do "$1" credentialsProvider.close ""
}

# Whether a provider exists and its client is started. Reports an error otherwise.
_mintmark_is_open() {
    [[ $1 =~ ^[A-Za-z0-9_-]+$ && -n ${_mintmark_provider_client[$1]-} ]] ||
        { _mintmark_fail closed "The provider ${1:-without a name} was not opened. Open it with mintmark_provider_open."; return; }
    _mintmark_is_started "${_mintmark_provider_client[$1]}"
}

# Calls a method of a provider and discards its result.
_mintmark_do() { _mintmark_perform "$@" || _mintmark_once_more "$1"; }

# Reports the error in REPLY, which a subshell received.
_mintmark_once_more() {
    local message
    message=$(jq -r .message <<<"$REPLY")
    _mintmark_report "$REPLY" "$message" "${_mintmark_folder[${_mintmark_provider_client[$1]-}]-}"
}

# _mintmark_ask CLIENT METHOD PARAMS: REPLY is the result, or the error.
_mintmark_ask() {
    REPLY=$(mintmark_call --as "$1" "$2" "$3" 2>/dev/null || { status=$?; printf '%s\n' "$_mintmark_last"; exit "$status"; })
}

# _mintmark_perform PROVIDER METHOD MEMBERS: REPLY is the result, or the error. A restarted process does not have the provider, so it is opened again.
_mintmark_perform() {
    local as=${_mintmark_provider_client[$1]-} base handle status
    [[ -n $as && -n ${_mintmark_folder[$as]-} ]] || { _mintmark_failure closed "The provider $1 was not opened, or its client was stopped."; return 75; }
    base=${_mintmark_folder[$as]}/provider-$1
    _mintmark_handle "$base" "" || return
    handle=$REPLY
    _mintmark_ask "$as" "$2" "{\"provider\":\"$handle\"$3}" && return
    status=$?
    [[ $REPLY == '{"kind":"answered","type":"providerNotOpen"'* && ! -e $base.closed ]] || return "$status"
    _mintmark_handle "$base" "$handle" || return
    _mintmark_ask "$as" "$2" "{\"provider\":\"$REPLY\"$3}"
}

# _mintmark_handle BASE OLD: REPLY is the process's handle of the provider, which differs from the old handle.
_mintmark_handle() {
    local base=$1 lock params status=0
    exec {lock}>"$base.opening"
    flock "$lock"
    REPLY=$(<"$base.handle")
    if [[ -z $REPLY && -e $base.closed ]]; then
        _mintmark_failure closed "This provider was closed before its first call. Open another one with mintmark_provider_open."
        status=75
    elif [[ -z $REPLY || $REPLY == "$2" ]]; then
        params=$(<"$base.params")
        [[ ! -s $base.logins ]] || params="${params%\}},\"logins\":$(<"$base.logins")}"
        _mintmark_ask "$as" credentialsProvider.open "$params"
        status=$?
        if ((status == 0)); then
            REPLY=$(jq -r .provider <<<"$REPLY")
            printf '%s' "$REPLY" >|"$base.handle"
        fi
    fi
    exec {lock}>&-
    return "$status"
}

# _mintmark_ready PROVIDER METHOD MEMBERS: calls a method, and gets a token first if required. Reports an error.
_mintmark_ready() {
    local as=${_mintmark_provider_client[$1]-} lock status
    _mintmark_perform "$@" || { _mintmark_once_more "$1"; return; }
    [[ $REPLY == *'"state":"tokenRequired"'* ]] || return 0
    exec {lock}>"${_mintmark_folder[$as]}/provider-$1.asking"
    flock "$lock"
    # Another subshell may have submitted the token while this one waited for the lock.
    if _mintmark_perform "$1" "$2" "" && [[ $REPLY == *'"state":"tokenRequired"'* ]]; then
        _mintmark_get_token "$1"
        status=$?
    else
        status=$?
        [[ $REPLY == '{"kind":"'* ]] || status=0
    fi
    exec {lock}>&-
    ((status == 0)) || _mintmark_once_more "$1"
}

# _mintmark_get_token PROVIDER: calls the script's function for the token that REPLY requires, and submits it. REPLY is the result, or the error.
_mintmark_get_token() {
    local function=${_mintmark_token_source[$1]} wanted=$REPLY said=${_mintmark_folder[$as]}/provider-$1.said given status logins identity
    logins=$(jq -c '.logins // {}' <<<"$wanted") identity=$(jq -r '.identityId // ""' <<<"$wanted")
    given=$("$function" "$logins" "$identity" 2>"$said" {lock}>&-)
    status=$?
    if ((status != 0)); then
        _mintmark_failure own "$function, which prints the tokens of $1, failed with status $status: $(<"$said")"
        return 73
    fi
    given=$(jq -cse '.[0] as $wanted | .[1] | select((.identityId | type) == "string" and (.token | type) == "string")
        | {continuationToken: $wanted.continuationToken, identityId, token}' <<<"$wanted$given" 2>/dev/null) ||
        { _mintmark_failure own "$function, which prints the tokens of $1, did not print a JSON object with identityId and token."; return 73; }
    _mintmark_ask "$as" credentialsProvider.submitToken "$given"
}
