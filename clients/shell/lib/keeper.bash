# The keeper: one subshell in the background for each client. Subshells share no variables, so everything that they share is in a private
# folder, and nobody holds it open:
#
#   control      a pipe from which the keeper reads what to do, one line each, short enough to arrive in one piece
#   line.ID      a request that is too long for it
#   call.ID      empty while a call waits; then its answer, in one line
#   answers      a pipe: what the process writes
#   box.PID      a pipe by which a shell that waits is woken, and box.PID.waits, which is not empty while it does
#   cancelled.ID
#   state        how the first process came up; error: the last error of the script; notifications; program: the process id
#
# The keeper writes requests to the process, and starts another one after its death. What the process answers is read by
# generation.bash. When the shell that started it is gone, or the folder is, the keeper ends the process and removes what is left.
#
# It reads without a time limit: bash loses what arrives just when the time is up. A clock, another subshell, writes to it now and then.
# shellcheck shell=bash disable=SC2034,SC2154

# _mintmark_keep FOLDER OWNER RESTARTS STORE BINARY LOG ARGUMENT…: runs until it is told to close, or its owner is gone.
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
    # What the script has open is not held open by what runs behind it.
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

# From now on the keeper looks every so many seconds whether anything has to be ended.
_mintmark_begin_clock() {
    [[ -z $clock ]] || kill -KILL "$clock"
    _mintmark_clock "$1" &
    clock=$!
}
_mintmark_clock() {
    local gone=0
    # Subshells forget the traps of their parent.
    trap : TERM HUP PIPE
    exec {told}>&-
    [[ -z $requests ]] || exec {requests}>&-
    while _mintmark_lives "$keeper"; do
        IFS= read -r -t "$1" -u "$never" _
        # A keeper that writes to a process which does not read hears nothing, not even that its owner is gone.
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

# What has ended one process may be otherwise with the next one.
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
            # A pipe that nobody reads: the process is gone, and knows nothing of this request. What follows is told by its reader.
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

# A call that comes after the end of the process, where no other may take its place.
_mintmark_refuse() {
    local error=$failure message
    if [[ $error =~ $_mintmark_passing ]]; then
        message="A new process is forbidden by --restart no: start a new client."
        [[ $store != :memory: ]] || message="What was in memory is gone: start a new client."
        error="${error%\"\}} $message\"}"
    fi
    _mintmark_deliver "$1" "$error"
}

# p PID PID: the process, and what reads its log.
_mintmark_on_p() { program=${1% *} logger=${1#* }; }

# s: the process is Mintmark, and not too old.
_mintmark_on_s() {
    local each
    [[ $phase == starting ]] || return
    phase=ready
    [[ -s $folder/state ]] || printf 'ready\n' >|"$folder/state"
    _mintmark_wake
    for each in "${queue[@]}"; do _mintmark_pass "${each%% *}" "${each#* }"; done
    queue=()
}

# e: the process has ended, and all its answers are delivered. Why it did stands in a file.
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
        # One that has not come up is not tried again at once.
        if [[ $was != starting ]]; then
            _mintmark_pass "${each%% *}" "${each#* }"
        elif [[ $each != " "* ]]; then
            _mintmark_deliver "${each%% *}" "$failure"
        fi
    done
}

# u FILE: an answer that the process could not attribute to a request. It ends all that wait.
_mintmark_on_u() {
    local each line
    IFS= read -r line <"$1"
    for each in "${!sent[@]}"; do _mintmark_deliver "$each" "$line"; done
    sent=()
}

# c MICROSECONDS: no more requests; the process may answer what it has for so long.
_mintmark_on_c() {
    [[ $phase != ended ]] || phase=closed
    [[ $phase == starting || $phase == ready ]] || return
    phase=closing deadline=$((${EPOCHREALTIME//[.,]/} + $1))
    _mintmark_let_go closed "This client was stopped before the call was sent." queue
    exec {requests}>&-
    requests=""
    _mintmark_begin_clock 0.1
}

# t: time has passed.
_mintmark_on_t() {
    [[ -p $folder/control ]] && _mintmark_lives "$owner" || _mintmark_on_c 10000000
    if [[ $phase == closing ]] && ((${EPOCHREALTIME//[.,]/} > deadline)); then
        # A child of its own may hold its answers open: then nobody reads them any more.
        [[ -z $program ]] || case $((++kills)) in
            1) kill -KILL "$program" ;;
            *) kill -KILL "$reader" "$logger" ;;
        esac
        deadline=$((${EPOCHREALTIME//[.,]/} + 2000000))
    fi
    # The reader says itself when it ends, unless somebody has killed it. Before it does, there is a file that says why.
    if [[ $phase != ended ]] && ! _mintmark_lives "$reader" && [[ ! -s $folder/failure ]]; then
        [[ -z $program ]] || kill -KILL "$program"
        _mintmark_failure ended "The process that reads Mintmark's answers was killed."
        printf '%s\n' "$REPLY" >|"$folder/failure"
        _mintmark_on_e ""
    fi
}

# Fails what was sent and what was not.
_mintmark_let_go() {
    local each
    _mintmark_failure "$1" "$2"
    for each in "${queue[@]}"; do [[ $each == " "* ]] || _mintmark_deliver "${each%% *}" "$REPLY"; done
    queue=()
    [[ ${3-} != queue ]] || return 0
    for each in "${!sent[@]}"; do _mintmark_deliver "$each" "$REPLY"; done
}

# Drops the ids of calls that nobody waits for any more.
_mintmark_forget() {
    local each
    for each in "${!sent[@]}"; do
        [[ -e $folder/call.$each && ! -s $folder/call.$each ]] || unset "sent[$each]"
    done
}

# _mintmark_deliver ID LINE: gives a call its outcome, once.
_mintmark_deliver() {
    [[ $1 =~ $_mintmark_id && -e $folder/call.$1 && ! -s $folder/call.$1 ]] || return 0
    # Where the folder is full, a call whose file is gone waits no longer.
    printf '%s\n' "$2" >|"$folder/call.$1" || rm -f "$folder/call.$1"
    _mintmark_wake
}

# Wakes the shells that wait. Nobody is waited for: a pipe that is opened both ways takes the byte, or loses it with its reader.
_mintmark_wake() {
    local each
    for each in "$folder"/box.*.waits; do
        [[ ! -s $each ]] || printf '\n' 1<>"${each%.waits}"
    done
}

# Whether a process lives; one that has ended and was not yet waited for does not.
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
