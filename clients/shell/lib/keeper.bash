# The keeper: one background subshell for each client. Subshells share no variables, so the shared state is in the files of a private folder, which no
# process keeps open:
#
# - control: the pipe from which the keeper reads commands, one per line, short enough to be written atomically
# - line.ID: a request that is too long for the pipe
# - call.ID: empty while a call waits, then its response on one line
# - answers: the pipe for the output of the process
# - box.PID: the pipe that wakes a waiting shell; box.PID.waits is not empty while the shell waits
# - cancelled.ID: marks a canceled call
# - state: the result of the first start
# - error: the last error of the script
# - notifications: the notifications received so far
# - program: the process ID
#
# The keeper writes requests to the process, and starts a new process after the old one has died. generation.bash reads the output of the process. If
# the shell that started the keeper ends, or the folder is removed, the keeper ends the process and removes all files.
#
# The keeper reads without a time limit, because bash loses data that arrives just when a time limit expires. Instead, another subshell, the clock,
# writes to the pipe at regular intervals.
# shellcheck shell=bash disable=SC2034,SC2154

# _mintmark_keep FOLDER OWNER RESTARTS STORE BINARY LOG ARGUMENT…: runs until the client is closed or its owner has ended.
_mintmark_keep() {
    local LC_ALL=C IFS=$' \t\n' folder=$1 owner=$2 restarts=$3 store=$4 binary=$5 log=$6 fd line control never told keeper=$BASHPID
    shift 6
    local -A sent=()
    local -a queue=() arguments=("$@")
    local requests="" reader="" logger="" program="" clock="" phase="" failure="" deadline="" count=0 kills=0
    set +eufxC
    shopt -u failglob nocasematch nocaseglob
    shopt -s nullglob
    trap : TERM HUP PIPE
    trap - EXIT ERR DEBUG
    # The keeper must not keep the script's open files open.
    exec </dev/null >/dev/null
    for fd in /dev/fd/*; do
        fd=${fd##*/}
        ((fd < 3 || fd == 255)) || eval "exec $fd>&-" 2>/dev/null
    done
    [[ $log == - ]] || exec 2>>"$log"
    exec {told}>&2 2>/dev/null
    exec {control}<>"$folder/control" {never}<>"$folder/never"
    _mintmark_begin_clock 1
    _mintmark_begin_generation
    while [[ $phase != closed ]]; do
        IFS= read -r -u "$control" line && "_mintmark_on_${line:0:1}" "${line:1}"
    done
    kill -KILL "$clock"
    _mintmark_let_go closed "This client was stopped before the call was answered."
    printf 'closed\n' >|"$folder/state"
    _mintmark_wake
    _mintmark_lives "$owner" || rm -rf "$folder"
}

# Starts a clock with this interval in seconds. At each tick, the keeper checks whether it has to end something.
_mintmark_begin_clock() {
    [[ -z $clock ]] || kill -KILL "$clock"
    _mintmark_clock "$1" &
    clock=$!
}
_mintmark_clock() {
    local gone=0
    # Subshells reset the traps of their parent.
    trap : TERM HUP PIPE
    exec {told}>&-
    [[ -z $requests ]] || exec {requests}>&-
    while _mintmark_lives "$keeper"; do
        IFS= read -r -t "$1" -u "$never" _
        # A keeper that is blocked writing to a process that does not read cannot detect the end of its owner.
        [[ $phase == closing ]] || _mintmark_lives "$owner" || ((++gone < 12)) || kill -KILL "$(<"$folder/program")"
        printf 't\n' >&"$control"
    done
}

_mintmark_begin_generation() {
    phase=starting
    : >|"$folder/failure"
    exec {requests}> >(_mintmark_generation)
    reader=$!
    printf '{"jsonrpc":"2.0","id":"0","method":"system.info"}\n' >&"$requests"
}

# The failures that may not recur with a new process.
_mintmark_passing='^\{"kind":"(ended|garbage)"'

# r ID LINE, f ID: a request. n ID LINE: a notification for the process.
_mintmark_on_r() { _mintmark_pass "${1%% *}" "${1#* }"; }
_mintmark_on_f() {
    local request
    IFS= read -r request <"$folder/line.$1"
    : >|"$folder/line.$1"
    _mintmark_pass "$1" "$request"
}
_mintmark_on_n() { _mintmark_pass "" "$1"; }

_mintmark_pass() {
    if [[ $phase == ended && -n $1 && $restarts == yes && $failure =~ $_mintmark_passing ]]; then _mintmark_begin_generation; fi
    case $phase in
        starting) queue+=("$1 $2") ;;
        ready)
            # The pipe has no reader, so the process has ended without receiving this request. The reader of its output reports the reason.
            printf '%s\n' "$2" >&"$requests" || { queue+=("$1 $2"); return; }
            [[ -z $1 ]] || sent[$1]=1
            ((++count % 256)) || _mintmark_forget
            ;;
        ended) [[ -z $1 ]] || _mintmark_refuse "$1" ;;
        *)
            _mintmark_failure closed "This client is being stopped. Start another one: mintmark_start."
            [[ -z $1 ]] || _mintmark_deliver "$1" "$REPLY"
            ;;
    esac
}

# Rejects a call that arrives after the end of the process if no new process may be started.
_mintmark_refuse() {
    local error=$failure message
    if [[ $error =~ $_mintmark_passing ]]; then
        message="--restart no forbids a new process. Start a new client."
        [[ $store != :memory: ]] || message="The store in memory is lost. Start a new client."
        error="${error%\"\}} $message\"}"
    fi
    _mintmark_deliver "$1" "$error"
}

# p PID PID: the process, and the reader of its log.
_mintmark_on_p() { program=${1% *} logger=${1#* }; }

# s: the process is Mintmark, and its version is supported.
_mintmark_on_s() {
    local each
    [[ $phase == starting ]] || return
    phase=ready
    [[ -s $folder/state ]] || printf 'ready\n' >|"$folder/state"
    _mintmark_wake
    for each in "${queue[@]}"; do _mintmark_pass "${each%% *}" "${each#* }"; done
    queue=()
}

# e: the process has ended, and all its responses are delivered. The reason is in a file.
_mintmark_on_e() {
    local each was=$phase
    local -a unsent=("${queue[@]}")
    failure=$(<"$folder/failure")
    [[ -z $requests ]] || exec {requests}>&-
    requests=""
    for each in "${!sent[@]}"; do _mintmark_deliver "$each" "$failure"; done
    sent=() queue=() phase=ended program=""
    [[ -s $folder/state ]] || { printf '%s\n' "$failure" >|"$folder/state"; _mintmark_wake; }
    [[ $was != closing ]] || phase=closed
    for each in "${unsent[@]}"; do
        # A process that failed to start is not restarted immediately.
        if [[ $was != starting ]]; then
            _mintmark_pass "${each%% *}" "${each#* }"
        elif [[ $each != " "* ]]; then
            _mintmark_deliver "${each%% *}" "$failure"
        fi
    done
}

# u FILE: an error response without a request ID. It ends all waiting calls.
_mintmark_on_u() {
    local each line
    IFS= read -r line <"$1"
    for each in "${!sent[@]}"; do _mintmark_deliver "$each" "$line"; done
    sent=()
}

# c MICROSECONDS: close the client. The process gets this time to complete its requests.
_mintmark_on_c() {
    [[ $phase != ended ]] || phase=closed
    [[ $phase == starting || $phase == ready ]] || return
    phase=closing deadline=$((${EPOCHREALTIME//[.,]/} + $1))
    _mintmark_let_go closed "This client was stopped before the call was sent." queue
    exec {requests}>&-
    requests=""
    _mintmark_begin_clock 0.1
}

# t: a tick of the clock.
_mintmark_on_t() {
    [[ -p $folder/control ]] && _mintmark_lives "$owner" || _mintmark_on_c 10000000
    if [[ $phase == closing ]] && ((${EPOCHREALTIME//[.,]/} > deadline)); then
        # A child of the process may keep its output open; then the reader is killed, too.
        [[ -z $program ]] || case $((++kills)) in
            1) kill -KILL "$program" ;;
            *) kill -KILL "$reader" "$logger" ;;
        esac
        deadline=$((${EPOCHREALTIME//[.,]/} + 2000000))
    fi
    # The reader reports its own end, unless it was killed. Before reporting, it writes a file with the reason.
    if [[ $phase != ended ]] && ! _mintmark_lives "$reader" && [[ ! -s $folder/failure ]]; then
        [[ -z $program ]] || kill -KILL "$program"
        _mintmark_failure ended "The helper process that reads the responses was killed. Start a new client."
        printf '%s\n' "$REPLY" >|"$folder/failure"
        _mintmark_on_e ""
    fi
}

# Fails queued calls, and sent calls too unless the third argument is "queue".
_mintmark_let_go() {
    local each
    _mintmark_failure "$1" "$2"
    for each in "${queue[@]}"; do [[ $each == " "* ]] || _mintmark_deliver "${each%% *}" "$REPLY"; done
    queue=()
    [[ ${3-} != queue ]] || return 0
    for each in "${!sent[@]}"; do _mintmark_deliver "$each" "$REPLY"; done
}

# Removes the IDs of calls without a waiting shell.
_mintmark_forget() {
    local each
    for each in "${!sent[@]}"; do
        [[ -e $folder/call.$each && ! -s $folder/call.$each ]] || unset "sent[$each]"
    done
}

# _mintmark_deliver ID LINE: delivers the outcome of a call once.
_mintmark_deliver() {
    [[ $1 =~ $_mintmark_id && -e $folder/call.$1 && ! -s $folder/call.$1 ]] || return 0
    # If the folder is full, the removal of its file ends the wait of the call.
    printf '%s\n' "$2" >|"$folder/call.$1" || rm -f "$folder/call.$1"
    _mintmark_wake
}

# Wakes the waiting shells without blocking: a pipe opened for reading and writing accepts the byte, or loses it when its reader ends.
_mintmark_wake() {
    local each
    for each in "$folder"/box.*.waits; do
        [[ ! -s $each ]] || printf '\n' 1<>"${each%.waits}"
    done
}

# Whether a process is running. A zombie does not count.
_mintmark_lives() {
    local stat=""
    if [[ -d /proc/self ]]; then
        IFS= read -r stat <"/proc/$1/stat" || return 1
        stat=${stat##*) }
        [[ $stat != [ZX]* ]]
    else
        kill -0 "$1"
    fi
} 2>/dev/null
