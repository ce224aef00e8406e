# The lifetime of one process: a subshell of the keeper that reads its output and delivers the responses.
# shellcheck shell=bash disable=SC2154

# Runs with the requests on standard input, and with the keeper's variables.
_mintmark_generation() {
    local stream logged logger pipe answers program line verdict="" status longest=$_mintmark_longest_first
    trap : TERM HUP PIPE
    exec {control}>&-
    rm -f "$folder/words" "$folder/answers"
    mkfifo -m 600 "$folder/answers" || { _mintmark_no_pipe; return; }
    exec {stream}<&0 </dev/null
    exec {logged}> >(_mintmark_keep_log)
    logger=$!
    # The process is a background job instead of a process substitution, because bash occasionally loses the exit status of the latter (about 1 in 100
    # times).
    exec {pipe}<>"$folder/answers" {answers}<"$folder/answers"
    (
        exec <&"$stream" >&"$pipe" 2>&"$logged" {stream}<&- {pipe}>&- {answers}<&- {logged}>&- {never}<&- {told}>&-
        unset MINTMARK_STORE MINTMARK_APP
        exec -- "$binary" serve "${arguments[@]}"
    ) &
    program=$!
    exec {stream}<&- {pipe}>&- {logged}>&-
    printf '%s' "$program" >|"$folder/program"
    printf 'p%s\n' "$program $logger" 1<>"$folder/control"
    while IFS= read -r -n "$longest" line <&"$answers"; do
        _mintmark_take "$line" || { kill -KILL "$program"; break; }
    done
    # A signal to this shell interrupts wait, not the program.
    while wait "$program"; status=$?; ((status > 128)) && kill -0 "$program"; do :; done
    _mintmark_last_words
    [[ -n $verdict ]] || _mintmark_how_it_ended "$status"
    _mintmark_end_generation "$verdict"
    _mintmark_lives "$keeper" || _mintmark_lives "$owner" || rm -rf "$folder"
}

# _mintmark_end_generation FAILURE: reports to the keeper why there are no further responses.
_mintmark_end_generation() {
    printf '%s\n' "$1" >|"$folder/failure"
    printf 'e\n' 1<>"$folder/control"
}

_mintmark_no_pipe() {
    _mintmark_failure ended "A pipe cannot be created in $folder, so Mintmark was not started. Free space there and call again, or set TMPDIR to another folder and start a new client."
    _mintmark_end_generation "$REPLY"
}

# Responses have at most 16 MiB. The first response, which identifies Mintmark, is much shorter. Longer lines are rejected.
_mintmark_longest_answer=17825793
_mintmark_longest_first=262145

_mintmark_answer='^\{"jsonrpc": ?"2\.0", ?"id": ?"([^"\\]*)", ?("trace": ?"([^"\\]|\\.)*", ?)?("result": ?.|"error": ?\{"code": ?-?[0-9]+, ?"message": ?")'
_mintmark_telling='^\{"jsonrpc": ?"2\.0", ?"method": ?("[^"\\]*"), ?"params": ?'

# Classifies a line: "=" and the request ID for a response, `unknown` for a response to an unknown request, "null" for an error without a request,
# "method" for a notification, or no output for other text.
_mintmark_kind='
    fromjson? | objects | select(.jsonrpc == "2.0")
    | if has("method") then if (.method | type) == "string" and (has("id") | not) then "method" else empty end
      elif has("result") == has("error") then empty
      elif has("error") and ((.error | type) != "object" or (.error.code | type) != "number" or (.error.message | type) != "string") then empty
      elif .id == null and has("error") then "null"
      elif (.id | type) == "string" then "=" + .id
      elif has("id") then "unknown"
      else empty end'

# Processes a line of the process. If the program is not Mintmark or is too old, the status is 1 and verdict is set.
_mintmark_take() {
    local line=$1 head=${1:0:400} kind
    if ((${#line} == longest)); then
        _mintmark_is_garbage "$line"
        return 1
    elif [[ $head =~ $_mintmark_answer && $line == *'}' && ! ( $line == *'"result"'* && $line == *'"error"'* ) ]]; then
        _mintmark_answered "${BASH_REMATCH[1]}" "$line"
    elif [[ $head =~ $_mintmark_telling ]]; then
        kind=${BASH_REMATCH[1]} line=${line:${#BASH_REMATCH[0]}}
        _mintmark_is_progress "$kind" "${line%\}}" || printf '{"method":%s,"params":%s}\n' "$kind" "${line%\}}" >>"$folder/notifications"
    else
        # Valid JSON, but not in the format that Mintmark writes.
        kind=$(printf '%s' "$line" | jq -Rr "$_mintmark_kind")
        case $kind in
            =*) _mintmark_answered "${kind#=}" "$line" ;;
            unknown) ;;
            method) printf '%s' "$line" | jq -c '{method, params}' >>"$folder/notifications" ;;
            null)
                if ((longest == _mintmark_longest_first)); then
                    # So far, the only request was system.info, which identifies the program.
                    _mintmark_is_garbage "$line"
                    return 1
                fi
                kind=$folder/unattributed.$EPOCHREALTIME
                printf '%s\n' "$line" >"$kind"
                printf 'u%s\n' "$kind" 1<>"$folder/control"
                ;;
            *)
                _mintmark_is_garbage "$line"
                return 1
                ;;
        esac
    fi
}

# Delivers progress to the call that requested it. Status 1 for any other message.
_mintmark_is_progress() {
    local known='^\{"token": ?"([^"\\]*)", ?"value": ?' method=$1 params=$2 id
    [[ $method == '"$/progress"' && $params =~ $known && ${BASH_REMATCH[1]} =~ $_mintmark_id ]] || return 1
    id=${BASH_REMATCH[0]}
    [[ $params =~ $known ]]
    params=${params:${#BASH_REMATCH[0]}}
    [[ ! -e $folder/progress.$id ]] || { printf '%s\n' "${params%\}}" >>"$folder/progress.$id" && _mintmark_wake; }
}

_mintmark_is_garbage() {
    local line
    printf -v line '%q' "${1:0:80}"
    _mintmark_failure garbage "$binary does not respond like Mintmark: it wrote $line. Is it the right program? Set another path with --binary or MINTMARK_BINARY."
    verdict=$REPLY
}

_mintmark_answered() {
    if [[ $1 != 0 ]]; then
        _mintmark_deliver "$1" "$2"
    elif [[ $2 =~ \"version\":\ ?\"([0-9]+)\.([0-9]+)\.([0-9]+) ]] && _mintmark_is_older "${BASH_REMATCH[@]:1}"; then
        _mintmark_failure tooOld "$binary is Mintmark ${BASH_REMATCH[1]}.${BASH_REMATCH[2]}.${BASH_REMATCH[3]}, which is older than this client for Mintmark $_mintmark_contract_version. Install a newer program, or set the path of another one with --binary or MINTMARK_BINARY."
        verdict=$REPLY
        return 1
    else
        longest=$_mintmark_longest_answer
        printf 's\n' 1<>"$folder/control"
    fi
}

# Whether a version of three numbers is below that of the contract.
_mintmark_is_older() {
    local -a found=("$@") wanted
    local part
    IFS=. read -r -a wanted <<<"${_mintmark_contract_version%%-*}"
    for part in 0 1 2; do
        ((10#${found[part]} == 10#${wanted[part]})) || return $((10#${found[part]} > 10#${wanted[part]}))
    done
    return 1
}

# Copies the log of the process to standard error, and its last lines to a file.
_mintmark_keep_log() {
    local line
    local -a words=()
    exec {stream}<&-
    while IFS= read -r line || [[ -n $line ]]; do
        printf '%s\n' "$line" >&"$told"
        words+=("$line")
        ((${#words[@]} <= 20)) || words=("${words[@]:1}")
    done
    printf '%s\n' "${words[@]}" >"$folder/words.new"
    mv "$folder/words.new" "$folder/words"
}

# Waits for that file for a limited time, because another process may keep the log open.
_mintmark_last_words() {
    local turn
    for ((turn = 0; turn < 500; turn++)); do
        [[ ! -e $folder/words ]] || break
        IFS= read -r -t 0.01 -u "$never" line
    done
}

_mintmark_how_it_ended() {
    local status=$1 message said=""
    said=$(<"$folder/words")
    if ((status == 126 || status == 127)); then
        said=${said##*: }
        message="The program $binary does not exist or cannot be run${said:+: $said}. Install Mintmark, or build it in its repository (clients/shell/mintmark --version creates .build/mintmark). Then set its path with --binary or MINTMARK_BINARY, or put it on the PATH."
        _mintmark_failure notFound "$message"
        verdict=$REPLY
        return
    fi
    message="ended with status $status"
    ((status <= 128)) || message="was ended by signal SIG$(kill -l $((status - 128)))"
    message="The Mintmark process $message before it answered."
    ((status != 64)) || message+=" Its arguments are not valid: an option has a wrong value, or $binary is older than this client."
    [[ -z $said ]] || message+=" Its last log lines: $said"
    _mintmark_failure ended "$message"
    verdict=$REPLY
}
