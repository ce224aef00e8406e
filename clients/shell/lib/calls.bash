# Calls: mintmark_call, or mintmark_begin and mintmark_await for many concurrent calls.
# shellcheck shell=bash disable=SC2154

# The files of finished calls, which can be removed, and the number of calls that this shell has made.
declare -ga _mintmark_spent=()
_mintmark_count=0

# The number of bytes that a pipe accepts atomically.
_mintmark_piece=3900
[[ $OSTYPE == linux* ]] || _mintmark_piece=500

# mintmark_call [--as NAME] [--timeout SECONDS] [--trace TEXT] [--progress FUNCTION] METHOD [PARAMETER…]: calls a method and prints its result as
# JSON.
# For long calls, --progress names a function that receives each progress value as JSON. It runs in a subshell, and its output goes to standard error.
# A parameter is name=text, name:=json, name[member]=text, name[]=text, name@=file (- is standard input) or name:@=file. A single parameter can also
# be a JSON object, or - to read one from standard input.
mintmark_call() {
    local - as=default limit="" trace="" progress="" variable="" REPLY deadline
    local -a rest=()
    set +eufxC
    _mintmark_options call "$@" || return
    _mintmark_deadline "${limit:=${_mintmark_limit[$as]-}}"
    _mintmark_send || return
    _mintmark_collect "$REPLY"
}

# mintmark_list [--as NAME] [--timeout SECONDS] [--trace TEXT] METHOD [PARAMETER…]: prints the items of all pages of a method such as pool.list, one
# JSON text per line. Each page is requested after the items of the page before it are printed; the time limit applies to each page.
mintmark_list() {
    local - page last=""
    local -a given=() lines=()
    set +eufxC
    (($#)) && given=("${@:1:$#-1}") last=${*:$#}
    [[ $last == - ]] && last=$(cat)
    page=$(mintmark_call "${given[@]}" ${last:+"$last"}) || return
    while true; do
        mapfile -t lines < <(jq -c '(to_entries[].value | arrays[]), .nextCursor' <<<"$page")
        ((${#lines[@]} < 2)) || printf '%s\n' "${lines[@]::${#lines[@]}-1}" || return
        page=${lines[-1]}
        [[ $page != null ]] || return 0
        if [[ $last == '{'* ]]; then
            page=$(mintmark_call "${given[@]}" "$(jq -c --argjson cursor "$page" '.cursor = $cursor' <<<"$last")") || return
        else
            page=$(mintmark_call "${given[@]}" "$last" cursor:="$page") || return
        fi
    done
}

# mintmark_begin [--as NAME] [--trace TEXT] [-v VARIABLE] METHOD [PARAMETER…]: begins a call and prints its ID, or assigns it to a variable.
mintmark_begin() {
    local - as=default limit="" trace="" progress="" variable="" REPLY
    local -a rest=()
    set +eufxC
    _mintmark_options begin "$@" || return
    if [[ -n $variable ]] && ! _mintmark_takes_value "$variable"; then
        _mintmark_fail refused "-v takes the name of a variable, such as call, call[7], or call[name] with declare -A call. This name cannot be used."
        return
    fi
    _mintmark_send || return
    if [[ -n $variable ]]; then printf -v "$variable" %s "$REPLY"; else printf '%s\n' "$REPLY"; fi
}

# mintmark_await [--as NAME] [--timeout SECONDS] ID: waits for a call that was begun in this shell or in another subshell, and prints its result.
mintmark_await() {
    local - as=default limit="" trace="" progress="" variable="" REPLY deadline
    local -a rest=()
    set +eufxC
    _mintmark_options await "$@" || return
    _mintmark_deadline "${limit:=${_mintmark_limit[$as]-}}"
    [[ ${rest[0]} =~ $_mintmark_id ]] || { _mintmark_fail refused "mintmark_await takes the ID that mintmark_begin returned."; return; }
    _mintmark_collect "${rest[0]}"
}

# mintmark_cancel [--as NAME] ID…: cancels calls. Waiting for a canceled call fails with the error cancelled, and the process stops working on it.
mintmark_cancel() {
    local - as=default limit="" trace="" progress="" variable="" id folder
    local -a rest=()
    set +eufxC
    _mintmark_options cancel "$@" || return
    _mintmark_is_started "$as" || return
    folder=${_mintmark_folder[$as]-}
    for id in "${rest[@]}"; do
        [[ $id =~ $_mintmark_id ]] || { _mintmark_fail refused "mintmark_cancel takes IDs that mintmark_begin returned."; return; }
        [[ -e $folder/call.$id && ! -s $folder/call.$id ]] || continue
        : >|"$folder/cancelled.$id"
        _mintmark_tell_cancel "$folder" "$id"
        (shopt -u failglob; shopt -s nullglob; _mintmark_wake)
    done
}

# mintmark_notifications [--as NAME]: prints all notifications received so far, one {"method", "params"} per line.
mintmark_notifications() {
    local as=default
    [[ ${1-} != --as ]] || as=${2-}
    _mintmark_is_started "$as" || return
    cat "${_mintmark_folder[$as]}/notifications"
}

# Parses the options of a function into its variables.
_mintmark_options() {
    local function=$1 what
    shift
    while [[ ${1-} == -* && ${1-} != - ]]; do
        case $function$1 in
            *--as) as=${2-} ;;
            call--timeout | await--timeout) limit=${2-} ;;
            call--trace | begin--trace) trace=${2-} ;;
            call--progress) progress=${2-} ;;
            begin-v) variable=${2-} ;;
            *) _mintmark_fail refused "mintmark_$function has no option $1."; return ;;
        esac
        (($# > 1)) || { _mintmark_fail refused "$1 requires a value."; return; }
        shift 2
    done
    rest=("$@")
    [[ $as =~ $_mintmark_name ]] || { _mintmark_not_started "$as"; return; }
    [[ -z $progress ]] || declare -F "$progress" >/dev/null || { _mintmark_fail refused "The function $progress for --progress does not exist."; return; }
    if [[ -z ${1-} ]]; then
        what="a method, such as system.ping"
        [[ $function == call || $function == begin ]] || what="the id that mintmark_begin gave"
        _mintmark_fail refused "mintmark_$function takes $what."
        return
    fi
    _mintmark_is_limit "$limit" || _mintmark_fail refused "--timeout takes a positive number of seconds."
}

_mintmark_variable='^[A-Za-z_][A-Za-z0-9_]*(\[([A-Za-z0-9_]+)\])?$'

# Whether an ID can be assigned to a variable: it must not be a local variable of mintmark_begin, and its index must not be an expression.
_mintmark_takes_value() {
    [[ $1 =~ $_mintmark_variable ]] || return
    local name=${1%%\[*} index=${BASH_REMATCH[2]}
    case $name in as | limit | trace | progress | variable | rest | REPLY) return 1 ;; esac
    [[ -z $index || $index =~ ^[0-9]+$ || $(declare -p "$name" 2>/dev/null) =~ ^declare\ -[a-z]*A ]]
}

_mintmark_is_limit() { [[ -z $1 || ( $1 =~ ^([0-9]+\.?[0-9]*|\.[0-9]+)$ && $1 =~ [1-9] ) ]]; }

# REPLY is the number of seconds, converted to microseconds.
_mintmark_microseconds() {
    local whole=${1%%.*} part=""
    [[ $1 != *.* ]] || part=${1#*.}
    part=${part}000000
    REPLY=$((10#0${whole} * 1000000 + 10#${part:0:6}))
}

# Sets deadline, in microseconds since 1970-01-01 UTC.
_mintmark_deadline() {
    deadline=""
    [[ -z $1 ]] || { _mintmark_microseconds "$1"; deadline=$((${EPOCHREALTIME//[.,]/} + REPLY)); }
}

# Sends the request in rest; REPLY is the ID of the call.
_mintmark_send() {
    local LC_ALL=C method=${rest[0]} folder=${_mintmark_folder[$as]-} id line params more="" is_full=""
    [[ -n $folder ]] || { _mintmark_not_started "$as"; return; }
    _mintmark_parameters "${rest[@]:1}" || { _mintmark_fail refused "$method was not called: $REPLY." "$folder" "$method"; return; }
    params=$REPLY
    if [[ -n $trace ]]; then
        _mintmark_text "$trace" || { _mintmark_fail refused "The value of --trace is not UTF-8." "$folder" "$method"; return; }
        more=",\"trace\":$REPLY"
    fi
    _mintmark_text "$method" || { _mintmark_fail refused "The name of the method is not UTF-8." "$folder"; return; }
    id=${method//[^A-Za-z0-9.]/_}
    id=${id:0:60}:$BASHPID.$((++_mintmark_count)).${EPOCHREALTIME//[.,]/}
    [[ -z $progress ]] || { more+=",\"progressToken\":\"$id\""; { : >|"$folder/progress.$id"; } 2>/dev/null; }
    line="{\"jsonrpc\":\"2.0\",\"id\":\"$id\",\"method\":$REPLY,\"params\":$params$more}"
    if ((${#line} > ${_mintmark_longest[$as]})); then
        _mintmark_fail refused "$method was not called: the request is longer than ${_mintmark_longest[$as]} bytes. Increase --max-line of mintmark_start." "$folder" "$method"
        return
    fi
    { : >|"$folder/call.$id"; } 2>/dev/null || { _mintmark_not_started "$as"; return; }
    {
        if ((${#line} < _mintmark_piece)); then
            printf 'r%s %s\n' "$id" "$line" 1<>"$folder/control"
        else
            printf '%s\n' "$line" >"$folder/line.$id" || is_full=yes
            [[ -n $is_full ]] || printf 'f%s\n' "$id" 1<>"$folder/control"
        fi
    } 2>/dev/null
    if [[ -n $is_full ]]; then
        rm -f "$folder/call.$id" "$folder/line.$id"
        _mintmark_fail refused "$method was not called: $folder is full. Set TMPDIR to another folder." "" "$method"
        return
    fi
    REPLY=$id
}

# Cancels the request in the process, because its response is no longer needed.
_mintmark_tell_cancel() {
    printf 'n{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"%s"}}\n' "$2" 1<>"$1/control"
} 2>/dev/null

# _mintmark_collect ID: waits for the outcome of a call until the deadline. Prints the result or reports the error.
_mintmark_collect() {
    local LC_ALL=C id=$1 folder=${_mintmark_folder[$as]-} method=${1%%:*} status=0 errors trapped=""
    if [[ -n ${_mintmark_kept[$id]-} ]]; then
        REPLY=${_mintmark_kept[$id]}
        unset "_mintmark_kept[$id]"
    else
        [[ -n $folder ]] || { _mintmark_not_started "$as"; return; }
        # Killing a background job also cancels its call.
        if [[ $BASHPID != "$$" && -z $(trap -p TERM) ]]; then
            trap '_mintmark_tell_cancel "$folder" "$id"; _mintmark_forget_call "$folder" "$id"; trap - TERM; kill -TERM "$BASHPID"' TERM
            trapped=yes
        fi
        if [[ -n $progress ]]; then exec {errors}>&2; fi
        _mintmark_wait "$folder" "$folder/call.$id" "$folder/cancelled.$id" "$deadline" "${progress:+$folder/progress.$id}"
        status=$?
        # Restore the default handling of signals for the rest of the job.
        [[ -z $trapped ]] || trap - TERM
        if [[ -n $progress ]]; then exec {errors}>&-; fi
    fi
    case $status in
        0) _mintmark_forget_call "$folder" "$id"; _mintmark_outcome "$folder" "$method"; return ;;
        124)
            _mintmark_tell_cancel "$folder" "$id"
            _mintmark_fail timedOut "$method was not answered within $limit s. It was canceled, but may have taken effect." "$folder" "$method"
            ;;
        130) _mintmark_fail cancelled "$method was canceled, but may have taken effect." "$folder" "$method" ;;
        75) _mintmark_fail closed "The client $as was stopped, or the call $id does not exist, or its result was read before." "" "$method" ;;
        *) _mintmark_fail ended "The helper process of this client was killed. Call mintmark_stop and start a new client." "$folder" "$method" ;;
    esac
    status=$?
    _mintmark_forget_call "$folder" "$id"
    return "$status"
}

# Removes the files of a call. A subshell removes them immediately; other shells do so for many calls at a time, because rm starts a process.
_mintmark_forget_call() {
    [[ -n $1 ]] || return 0
    { printf x >|"$1/call.$2"; } 2>/dev/null
    _mintmark_spent+=("$1/call.$2" "$1/cancelled.$2" "$1/line.$2" "$1/progress.$2")
    if [[ $BASHPID != "$$" ]]; then
        _mintmark_spent+=("$1/box.$BASHPID" "$1/box.$BASHPID.waits")
    elif ((${#_mintmark_spent[@]} < 300)); then
        return 0
    fi
    rm -f "${_mintmark_spent[@]}"
    _mintmark_spent=()
}

# _mintmark_wait FOLDER FILE CANCELLED DEADLINE [PROGRESS]: waits until the file has a line; REPLY is that line. The status is 124 at the deadline,
# 130 if the call was canceled, 75 if it does not exist, and 74 if the keeper has ended.
_mintmark_wait() {
    local folder=$1 file=$2 cancelled=$3 until=$4 box=$1/box.$BASHPID keeper pipe left seconds status="" told=0 found
    local -a values=()
    [[ -n $cancelled && -e $cancelled ]] && return 130
    if [[ -z ${5-} ]] && IFS= read -r REPLY <"$file"; then return 0; fi
    [[ -p $box ]] || mkfifo -m 600 "$box" || return 75
    exec {pipe}<>"$box" || return 75
    # Set the flag before checking the file. The writer uses the reverse order, so no wakeup is lost.
    printf 1 >|"$box.waits"
    keeper=$(<"$folder/keeper")
    while :; do
        [[ -n $cancelled && -e $cancelled ]] && { status=130; break; }
        # Progress values are written before the response, so they are complete when the response is present.
        IFS= read -r REPLY <"$file" && status=0
        if [[ -n ${5-} ]]; then
            mapfile -t -s "$told" values <"$5"
            for found in "${values[@]}"; do ("$progress" "$found") <&0 >&"$errors" 2>&1; done
            told=$((told + ${#values[@]}))
        fi
        [[ -z $status ]] || break
        # The file of a call that has already been awaited contains a different marker.
        [[ $REPLY != x && ( -e $file || -z $cancelled ) ]] || { status=75; break; }
        _mintmark_lives "$keeper" || { status=74; break; }
        seconds=1
        if [[ -n $until ]]; then
            left=$((until - ${EPOCHREALTIME//[.,]/}))
            ((left > 0)) || { status=124; break; }
            ((left >= 1000000)) || printf -v seconds '0.%06d' "$left"
        fi
        IFS= read -r -t "$seconds" -u "$pipe" _
    done
    : >|"$box.waits"
    exec {pipe}>&-
    return "$status"
} 2>/dev/null

_mintmark_result='^\{"jsonrpc": ?"2\.0", ?"id": ?"[^"\\]*", ?("trace": ?"([^"\\]|\\.)*", ?)?"(result|error)": ?'

# Prints the result in REPLY, or reports the error.
_mintmark_outcome() {
    local answer=$REPLY head=${REPLY:0:1200} trace="" what message
    if [[ $answer == '{"kind":"'* ]]; then
        _mintmark_text "$2"
        _mintmark_report "${answer%\}},\"method\":$REPLY}" "$2: $(jq -r .message <<<"$answer")" "$1"
        return
    fi
    if [[ ! $head =~ $_mintmark_result ]]; then
        # Valid JSON, but not in the format that Mintmark writes.
        answer=$(printf '%s' "$answer" | jq -c '{jsonrpc, id: ""} + if .trace | type == "string" then {trace} else {} end
            + if has("error") then {error: ({code: .error.code, message: .error.message} + .error)} else {result} end')
        head=${answer:0:1200}
        [[ $head =~ $_mintmark_result ]] || return 71
    fi
    what=${BASH_REMATCH[3]} trace=${BASH_REMATCH[1]}
    answer=${answer:${#BASH_REMATCH[0]}}
    answer=${answer%\}}
    if [[ $what == result ]]; then printf '%s\n' "$answer"; return; fi
    _mintmark_answered_error "$1" "$2" "$answer" "$trace"
}

# _mintmark_answered_error FOLDER METHOD ERROR TRACE
_mintmark_answered_error() {
    local error=$3 method=$2 type="" message="" known='^\{"code": ?-?[0-9]+, ?"message": ?"(([^"\\]|\\.)*)", ?"data": ?\{"type": ?"([A-Za-z0-9]+)"'
    if [[ ${error:0:4000} =~ $known ]]; then
        message=${BASH_REMATCH[1]//\\\"/\"} type=${BASH_REMATCH[3]}
        message=${message//\\\\/\\}
    else
        message=$(jq -r .message <<<"$error") type=$(jq -r '.data.type // "" | select(test("^[A-Za-z0-9]*$"))' <<<"$error")
    fi
    if [[ $type == methodNotFound && -n ${_mintmark_methods[$method]-} ]]; then
        if [[ ${_mintmark_methods[$method]} == testing && -z ${_mintmark_is_testing[$as]} ]]; then
            message="$method requires a testing store. Start one with mintmark_testing."
            _mintmark_text "$method"
            error="{\"code\":-32601,\"message\":\"$message\",\"data\":{\"type\":\"methodNotFound\",\"method\":$REPLY}}"
        else
            _mintmark_fail tooOld "The program does not have the method $method. It is older than this client for Mintmark $_mintmark_contract_version. Install a newer program, or set the path of another one with --binary or MINTMARK_BINARY." "$1" "$method"
            return
        fi
    fi
    _mintmark_text "$method"
    _mintmark_report "{\"kind\":\"answered\",\"type\":\"$type\",\"method\":$REPLY,$4${error#\{}" "$method: $message${type:+ ($type)}" "$1"
}
