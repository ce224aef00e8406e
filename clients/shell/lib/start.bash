# Starting and stopping clients.
# shellcheck shell=bash disable=SC2154

# For each client of this shell: its folder, whether it is a testing client, its time limit and its maximum line length. Also the responses to calls
# that were not awaited before their client was stopped.
declare -gA _mintmark_folder=() _mintmark_is_testing=() _mintmark_limit=() _mintmark_longest=() _mintmark_kept=()

# mintmark_start [--as NAME] (--store STORE | --app APP) [--testing] [--binary PROGRAM] [--timeout SECONDS] [--restart yes|no]
#                [--log FILE] [-- ARGUMENT…]
# Starts a process for this script and its subshells. It ends with the script at the latest. mintmark_stop ends it in an orderly way; a script without
# an EXIT trap calls it on exit automatically. Without --restart, the next call starts a new process after the old one has died, unless the store was
# in memory.
mintmark_start() {
    # A script may have closed its standard error.
    [[ -e /dev/fd/2 ]] || { mintmark_start "$@" 2>/dev/null; return; }
    local - as=default store="" app="" testing="" binary=${MINTMARK_BINARY:-mintmark} limit="" restart="" log=- longest=1048576 folder home word owner=$BASHPID
    local -a arguments=()
    set +eufxC
    while (($# > 0)); do
        case $1 in
            --as | --store | --app | --binary | --timeout | --restart | --log | --max-line)
                (($# > 1)) || { _mintmark_fail refused "$1 requires a value."; return; }
                ;;&
            --as) as=$2 ;;
            --store) store=$2 ;;
            --app) app=$2 ;;
            --binary) binary=$2 ;;
            --timeout) limit=$2 ;;
            --restart) restart=$2 ;;
            --log) log=$2 ;;
            --max-line) longest=$2 arguments+=(--max-line "$2") ;;
            --testing) testing=yes ;;
            --) shift; arguments+=("$@"); break ;;
            *) _mintmark_fail refused "mintmark_start has no option $1. Options of mintmark serve follow --."; return ;;
        esac
        [[ $1 == --testing ]] || shift
        shift
    done
    if [[ -z $store$app ]]; then
        store=${MINTMARK_STORE-}
        [[ -n $store ]] || app=${MINTMARK_APP-}
    fi
    if [[ -n $store && -n $app || -z $store$app ]]; then
        _mintmark_fail refused 'Set either a store or an app: --store shop.db is a file, --store :memory: ends with the process, --app shop is the store of that app in your data folder. MINTMARK_STORE and MINTMARK_APP do the same.'
        return
    fi
    [[ $as =~ $_mintmark_name ]] || { _mintmark_fail refused "The name for --as consists of letters, digits, dots, hyphens and underscores."; return; }
    [[ -z ${_mintmark_folder[$as]-} ]] || { _mintmark_fail refused "The client $as is already started. Stop it with mintmark_stop --as $as, or set another name with --as."; return; }
    { _mintmark_is_limit "$limit" && [[ $longest =~ ^[1-9][0-9]{0,15}$ ]]; } || { _mintmark_fail refused "--timeout requires a positive number of seconds, and --max-line a positive number of bytes."; return; }
    case $restart in
        "") if [[ $store == :memory: ]]; then restart=no; else restart=yes; fi ;;
        yes | no) ;;
        *) _mintmark_fail refused "--restart requires yes or no."; return ;;
    esac
    for word in jq mkfifo; do
        command -v "$word" >/dev/null || { _mintmark_fail refused "The program $word is not installed. On Debian and Ubuntu: apt-get install ${word/mkfifo/coreutils}."; return; }
    done
    word=""
    # An option after -- takes precedence, because the last one applies.
    [[ $OSTYPE != linux* ]] || word=--parent=$owner
    arguments=(${store:+--store="$store"} ${app:+--app="$app"} ${testing:+--testing} ${word:+"$word"} "${arguments[@]}")
    home=${XDG_RUNTIME_DIR-}
    [[ -n $home && -w $home ]] || home=${TMPDIR:-/tmp}
    { folder=$(mktemp -d "$home/mintmark-XXXXXXXX") && mkfifo -m 600 "$folder/control" "$folder/never" "$folder/box.$BASHPID"; } 2>/dev/null ||
        { _mintmark_fail refused "The folder $home is not writable. Set TMPDIR to another folder."; return; }
    : >|"$folder/notifications"
    # Not a job of this shell, so that `wait` does not wait for it.
    { _mintmark_keep "$folder" "$owner" "$restart" "$store" "$binary" "$log" "${arguments[@]}" 2>&3 3>&- & } 3>&2 2>/dev/null
    printf '%s' "$!" >|"$folder/keeper"
    disown "$!"
    _mintmark_folder[$as]=$folder _mintmark_is_testing[$as]=$testing _mintmark_limit[$as]=$limit _mintmark_longest[$as]=$longest
    [[ -n $(trap -p EXIT) ]] || trap mintmark_stop EXIT
    _mintmark_is_up "$as" "$limit" && return
    word=$REPLY
    _mintmark_stop_one "$as" 0.5
    _mintmark_report "$word" "$(jq -r .message <<<"$word")" ""
}

# mintmark_testing [OPTION…]: mintmark_start with a new testing store in memory, which has a virtual clock.
mintmark_testing() { mintmark_start --store :memory: --testing "$@"; }

# Waits until the process has identified itself as Mintmark. On failure, REPLY is the error.
_mintmark_is_up() {
    local LC_ALL=C folder=${_mintmark_folder[$1]} deadline=""
    _mintmark_deadline "$2"
    _mintmark_wait "$folder" "$folder/state" "" "$deadline"
    case $? in
        0) [[ $REPLY != ready ]] || return 0 ;;
        124) _mintmark_failure timedOut "The process did not respond within $2 s and was ended. Is --binary the right program?" ;;
        *) _mintmark_failure ended "The helper process of this client was killed." ;;
    esac
    return 1
}

# mintmark_stop [--as NAME] [--grace SECONDS]: lets the process complete its requests and exit; after the grace period (10 seconds by default) it is
# killed. Without a name, all clients of this shell are stopped. Responses to calls that were begun can still be awaited.
mintmark_stop() {
    local - as="" grace=10 each
    set +eufxC
    while (($# > 0)); do
        case $1 in
            --as) as=${2-} ;;
            --grace) grace=${2-} ;;
            *) _mintmark_fail refused "mintmark_stop takes --as NAME and --grace SECONDS."; return ;;
        esac
        (($# > 1)) || { _mintmark_fail refused "$1 requires a value."; return; }
        shift 2
    done
    { [[ $grace == 0 ]] || { [[ -n $grace ]] && _mintmark_is_limit "$grace"; }; } || { _mintmark_fail refused "--grace requires a number of seconds."; return; }
    for each in "${!_mintmark_folder[@]}"; do
        [[ -n $as && $each != "$as" ]] || _mintmark_stop_one "$each" "$grace"
    done
    return 0
}

_mintmark_stop_one() {
    local LC_ALL=C folder=${_mintmark_folder[$1]} keeper each never turn until tries=0
    local -a calls=()
    unset "_mintmark_folder[$1]"
    [[ -p $folder/control ]] || return 0
    keeper=$(<"$folder/keeper")
    _mintmark_microseconds "$2"
    exec {never}<>"$folder/never"
    printf 'c%s\n' "$REPLY" 1<>"$folder/control"
    until=$((${EPOCHREALTIME//[.,]/} + REPLY + 1000000))
    while _mintmark_lives "$keeper"; do
        IFS= read -r -t 0.02 -u "$never" each
        # A keeper that is blocked writing to a process that does not read receives no commands.
        ((${EPOCHREALTIME//[.,]/} < until)) || {
            kill -KILL "$(<"$folder/program")"
            # A child of the process may keep that pipe open.
            ((++tries < 10)) || kill -KILL "$keeper"
            until=$((until + 1000000))
        } 2>/dev/null
    done
    # Wait until the shell has reaped the keeper.
    for ((turn = 0; turn < 500; turn++)); do
        kill -0 "$keeper" 2>/dev/null || break
        IFS= read -r -t 0.01 -u "$never" each
    done
    exec {never}>&-
    mapfile -t calls < <(compgen -G "$folder/call.*")
    for each in "${calls[@]}"; do
        never=${each#"$folder/call."}
        [[ ! $never =~ $_mintmark_id || ! -s $each ]] || { IFS= read -r each <"$each" && _mintmark_kept[$never]=$each; }
    done
    rm -rf "$folder"
}
