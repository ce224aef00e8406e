# Errors: each one has an exit status, a message on standard error with the next step, and a JSON description.
# shellcheck shell=bash disable=SC2034,SC2154

# The valid names of clients and IDs of calls. No other text becomes an array index or a file name, because bash evaluates expressions in an index.
_mintmark_name='^[A-Za-z0-9_.-]+$'
_mintmark_id='^[A-Za-z0-9_.]+:[0-9]+[.][0-9]+[.][0-9]+$'

declare -gA _mintmark_status=(
    [answered]=1 [refused]=64 [notFound]=69 [tooOld]=70 [garbage]=71 [own]=73 [ended]=74 [closed]=75 [timedOut]=124 [cancelled]=130)

# The last error, and the ID of the shell in which it occurred.
_mintmark_last="" _mintmark_last_shell=""

# _mintmark_fail KIND MESSAGE [FOLDER [METHOD]]: reports an error and returns the status of its kind.
_mintmark_fail() {
    _mintmark_failure "$1" "$2" "${4-}"
    _mintmark_report "$REPLY" "$2" "${3-}"
}

# Whether a client was started. Reports an error otherwise.
_mintmark_is_started() { [[ $1 =~ $_mintmark_name && -n ${_mintmark_folder[$1]-} ]] || _mintmark_not_started "$1"; }

_mintmark_not_started() {
    _mintmark_fail closed "The client $1 was not started, or was stopped. Start it with mintmark_start --store shop.db, or with mintmark_testing."
}

# _mintmark_failure KIND MESSAGE [METHOD]: REPLY is the error as JSON.
_mintmark_failure() {
    local LC_ALL=C message=$2 method=${3-}
    _mintmark_is_utf8 "$message" || message=${message//[$'\x80'-$'\xff']/?}
    _mintmark_text "$message"
    message=$REPLY
    [[ -z $method ]] || _mintmark_text "$method"
    REPLY="{\"kind\":\"$1\",${method:+\"method\":$REPLY,}\"message\":$message}"
}

# _mintmark_report ERROR MESSAGE FOLDER: stores an error, prints its message and returns its status.
_mintmark_report() {
    local kind=${1#'{"kind":"'} folder=$3
    kind=${kind%%\"*}
    [[ -n $folder || ! ${as-} =~ $_mintmark_name ]] || folder=${_mintmark_folder[$as]-}
    _mintmark_last=$1 _mintmark_last_shell=$BASHPID
    # The parent of this subshell reads the error from this file.
    [[ -z $folder ]] || { printf '%s\n' "$1" >|"$folder/error"; } 2>/dev/null
    printf 'mintmark: %s\n' "$2" >&2
    return "${_mintmark_status[${kind:-garbage}]:-71}"
}

# mintmark_error [--as NAME] [FILTER]: prints the last error, {"kind", "method", "code", "type", "message", "data", "trace"}, or the output of the jq
# filter for it, such as mintmark_error .data.poolId
mintmark_error() {
    local as=default error=$_mintmark_last
    [[ ${1-} != --as ]] || { as=${2:-.}; shift "$(($# > 1 ? 2 : 1))"; }
    [[ $as =~ $_mintmark_name ]] || as=.
    if [[ $BASHPID == "$$" || $_mintmark_last_shell != "$BASHPID" ]] && [[ -s ${_mintmark_folder[$as]-/nowhere}/error ]]; then
        error=$(<"${_mintmark_folder[$as]}/error")
    fi
    [[ -n $error ]] || return 1
    if (($# == 0)); then printf '%s\n' "$error"; else printf '%s\n' "$error" | jq -r "$@"; fi
}

# mintmark_failed [--as NAME] TYPE…: whether the last error has one of these types (poolNotFound, …) or kinds (timedOut, …).
mintmark_failed() {
    local error type as=()
    [[ ${1-} != --as ]] || { as=(--as "${2:-.}"); shift "$(($# > 1 ? 2 : 1))"; }
    error=$(mintmark_error "${as[@]}") || return 1
    for type; do
        if [[ ! $type =~ ^[A-Za-z0-9]+$ ]]; then
            echo "mintmark: mintmark_failed takes types of errors, such as poolNotFound." >&2
            return 64
        elif [[ -n ${_mintmark_status[$type]-} ]]; then
            [[ $error != '{"kind":"'"$type"'"'* ]] || return 0
        elif [[ -n ${_mintmark_error_types[$type]-} ]]; then
            [[ $error != '{"kind":"answered","type":"'"$type"'"'* ]] || return 0
        else
            echo "mintmark: there is no error $type; schemas/errors.json lists them." >&2
            return 64
        fi
    done
    return 1
}
