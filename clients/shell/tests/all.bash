#!/bin/bash
# Tests of the bash functions in addition to clients/conformance. Ends with "N passed, N failed".
# shellcheck source=/dev/null disable=SC2154,SC2317,SC2016,SC2034
here=$(dirname "$(readlink -f -- "${BASH_SOURCE[0]}")")
export SHELL_CLIENT=${here%/tests}/mintmark.bash
source "$SHELL_CLIENT"
source "$here/outside.bash"
source "$here/idp.bash"
passed=0 failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/mintmark-XXXXXXXX") && cd "$work" || exit 2
export TMPDIR=$work
unset XDG_RUNTIME_DIR
trap 'mintmark_stop; cd /; rm -rf "$work"' EXIT

# test_that SENTENCE COMMAND…: runs the command in a subshell. The test fails if the status is not 0.
test_that() {
    local name=$1
    shift
    if ("$@") >"$work/out" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $name"
    else
        failed=$((failed + 1))
        echo "FAILED  $name"
        cut -c 1-400 "$work/out" | tail -n 20 | sed 's/^/    /'
    fi
    rm -f "$work/out"
}
is() { [[ $1 == "$2" ]] || { echo "expected: $2"; echo "found:    $1"; exit 1; }; }

# until_true COMMAND…: repeats the command until it succeeds, for at most a minute.
until_true() {
    local turn
    for ((turn = 0; turn < 3000; turn++)); do
        "$@" && return
        sleep 0.02
    done
    echo "in vain: $*"
    exit 1
}
program_of() { cat "${_mintmark_folder[default]}/program"; }

# Runs a separate script that has the functions.
script() { bash -c "source \"\$SHELL_CLIENT\"; $1"; }

parameters() {
    local REPLY
    while IFS=$'\t' read -r wanted one two; do
        _mintmark_parameters "$one" ${two:+"$two"} || REPLY="no: $REPLY"
        is "$REPLY" "$wanted"
    done <<'TABLE'
{"name":"shop"}	name=shop
{"name":""}	name=
{"name":"a=b:=c[d]"}	name=a=b:=c[d]
{"name":"\"\\/"}	name="\/
{"logins":{"login.shop":"alice","a=b":"c"}}	logins[login.shop]=alice	logins[a=b]=c
{"tags":["a","b"]}	tags[]=a	tags[]=b
{"levels":[1,{"x":null}]}	levels[]:=1	levels[]:={"x":null}
{"durationSeconds":900,"name":"900"}	durationSeconds:=900	name=900
{"name": "shop", "tags": {}}	{"name": "shop", "tags": {}}
no: name is given twice	name=a	name=b
no: name is given twice	name=a	name[b]=c
no: tags is given as a list and as an object	tags[]=x	tags[a]=y
no: tags is given as a list and as an object	tags[a]=y	tags[]=x
no: the value of n has no JSON, or nests deeper than 64 levels: 01. For a text write n=…	n:=01
no: these parameters are no JSON object: {"a":}	{"a":}
no: --timeout stands before the method	a=b	--timeout
no: x is no parameter: write name=text, name:=json, name[member]=text, name[]=text, name@=file or name:@=file	x
TABLE
}

files_and_standard_input() {
    printf 'p\xc3\xa4ss"\n' >secret
    _mintmark_parameters password@=secret
    is "$REPLY" '{"password":"päss\"\u000a"}'
    printf '{"a": [1]}' >claims
    _mintmark_parameters claims:@=claims
    is "$REPLY" '{"claims":{"a": [1]}}'
    _mintmark_parameters password@=- <<<word
    is "$REPLY" '{"password":"word\u000a"}'
    _mintmark_parameters - <<<'{"x":1}'
    is "$REPLY" '{"x":1}'
    ! _mintmark_parameters password@=nowhere || exit 1
    printf 'a\0b' >secret
    ! _mintmark_parameters password@=secret || exit 1
    [[ $REPLY == *"a NUL byte"* ]] || exit 1
    ! _mintmark_parameters - <secret
}

json_as_jq() {
    local text
    for text in '1' '-0.5e+3' '"a"' '"\u00e4\n"' '[]' '[1,2,[3]]' '{"a":{"b":[true,false,null]},"c":"]}"}' ' [ 1 , "x" ] ' '"\ud83e\udd13"' '""' '[""]' '{"":{}}'; do
        _mintmark_json "$text" || { echo "refused: $text"; exit 1; }
        is "$(jq -c . <<<"$REPLY")" "$(jq -c . <<<"$text")"
    done
    for text in '' 'a' '01' '1.' '.5' '+1' '- 1' '1 2' '[1,]' '[,]' '{"a"}' '{"a":1,}' '{a:1}' '{1:2}' '["a" "b"]' '"a' '["]' '"\x"' '"\u12"' '"\ud83e"' '"\udd13"' \
        'NaN' 'Infinity' 'nul' 'true false' 'tr ue' '[}' '{"a":1' $'"a\tb"' $'"\x01"' '{"a":1}}' '"a"b' $'\x01' $'"\xff"'; do
        ! _mintmark_json "$text" || { echo "taken: $text"; exit 1; }
    done
    local long
    printf -v long '"%5000s"' x
    _mintmark_json "[$long,1]" || { echo "a long text is refused"; exit 1; }
    _mintmark_json "[$long,9007199254740993]" && [[ $REPLY == *",9007199254740993]" ]] || { echo "a long text with a long number is another: ${REPLY: -30}"; exit 1; }
    ! _mintmark_json "[$long,NaN,9007199254740993]" || { echo "a long text with NaN and a long number is taken"; exit 1; }
    ! _mintmark_json "[$long,NaN]" || { echo "a long text with NaN is taken"; exit 1; }
    ! _mintmark_json "$long $long" || { echo "two texts are taken"; exit 1; }
}

whatever_options() {
    is "$(script 'set -euo pipefail -o noclobber -f; IFS=,; shopt -s nullglob failglob nocasematch; mintmark_testing --log /dev/null
        mintmark_call pool.create name=shop >/dev/null; for n in 1 2; do x=$(mintmark_call pool.list); done; jq ".pools | length" <<<"$x"
        mintmark_stop; [[ $- == *C* && $- == *e* && $- == *f* ]] && echo kept' 2>&1 | tr '\n' ' ')" "1 kept "
}

waits() {
    mintmark_testing --log /dev/null
    for _ in 1 2 3 4 5; do mintmark_call system.ping >>pings & done
    wait
    is "$(wc -l <pings)" 5
    is "$(jobs -r)" ""
    mintmark_stop
}

begun_elsewhere() {
    mintmark_testing --log /dev/null
    local call again
    call=$(mintmark_begin system.ping)
    mintmark_await "$call" | jq -e '.now > 0'
    mintmark_await "$call"
    is $? 75
    mintmark_begin -v again pool.list
    mintmark_stop
    is "$(mintmark_await "$again")" '{"pools":[]}'
}

statuses() {
    mintmark_call system.ping
    is $? 75
    mintmark_cancel pool.list:1.1.1
    is $? 75
    mintmark_start --store :memory: --log /dev/null
    mintmark_call test.clock
    is $? 1
    mintmark_error .message | grep -F mintmark_testing || exit 1
    mintmark_call pool.get poolId
    is $? 64
    answer=$(mintmark_call pool.gett)
    is $? 1
    mintmark_error .message | grep -F 'pool.get' || exit 1
    mintmark_failed methodNotFound poolNotFound || exit 1
    mintmark_failed poolNotFound
    is $? 1
    mintmark_failed poolNotFoumd
    is $? 64
    (mintmark_call --timeout 0 system.ping)
    is $? 64
    mintmark_start --store :memory:
    is $? 64
    mintmark_stop
}

killed_script() {
    mkfifo never
    bash -c 'source "$SHELL_CLIENT"; mintmark_testing --log /dev/null; cat "${_mintmark_folder[default]}/program" >program; echo >>program; read -r' <>never &
    local script=$! program
    until_true test -s program
    program=$(<program)
    kill -KILL "$script"
    until_true eval "! _mintmark_lives $program"
    until_true eval '[[ -z $(ls -d mintmark-* 2>/dev/null) ]]'
}

killed_keeper() {
    mintmark_testing --log /dev/null
    local program
    program=$(program_of)
    kill -KILL "$(<"${_mintmark_folder[default]}/keeper")"
    mintmark_call system.ping
    is $? 74
    until_true eval "! _mintmark_lives $program"
    mintmark_stop
    until_true eval '[[ -z $(ls -d mintmark-* 2>/dev/null) ]]'
}

killed_job() {
    mintmark_testing --log /dev/null -- --trace-file trace
    kill -STOP "$(program_of)"
    mintmark_call pool.list &
    local job=$!
    until_true compgen -G "${_mintmark_folder[default]}/box.*.waits" >/dev/null
    until_true eval '[[ -s $(compgen -G "${_mintmark_folder[default]}/box.'$job'.waits") ]]'
    kill "$job"
    wait "$job"
    is $? 143
    kill -CONT "$(program_of)"
    until_true grep -q -F '$/cancelRequest' trace
    mintmark_stop
}

other_folders() {
    ln -s "${SHELL_CLIENT%/*}" client
    is "$(CDPATH=.:/ bash -c 'source client/mintmark.bash && declare -F mintmark_call' 2>&1)" mintmark_call
}

logins_of_nobody() {
    # shellcheck disable=SC2329
    tokens() { false; }
    mintmark_testing --log /dev/null
    mintmark_provider_open me tokens poolId="local-1:00000000-0000-0000-0000-000000000000" || exit 1
    mintmark_provider_set_logins me
    is $? 64
    mintmark_stop
}

own_trap() {
    is "$(script 'trap "echo mine" EXIT; mintmark_testing --log /dev/null')" mine
    is "$(script 'mintmark_testing --log /dev/null; trap "echo later" EXIT')" later
    until_true eval '[[ -z $(ls -d mintmark-* 2>/dev/null) ]]'
}

secrets_stay() {
    mkdir bin
    local each real
    for each in jq cat rm mv mkfifo mktemp iconv flock; do
        real=$(command -v "$each")
        printf '#!/bin/bash\nprintf "%%s\\n" "$0 $*" >>"%s/arguments"\nexec %s "$@"\n' "$work" "$real" >"bin/$each"
    done
    chmod +x bin/*
    PATH=$work/bin:$PATH
    mintmark_testing --log /dev/null
    printf -v long '%5000s"' HUSH
    mintmark_call token.verify token=HUSH-1 audience=ä-HUSH
    mintmark_call token.verify token="$long" audience=a
    mintmark_call token.verify token:="\"${long//\"/}\"" audience=a
    mintmark_call token.verify '{"token": "HUSH-2", "audience": "a"}'
    mintmark_stop
    grep -q jq arguments || { echo "nothing was noted"; exit 1; }
    ! grep HUSH arguments
}

begun_into_variables() {
    mintmark_testing --log /dev/null
    local -A named=()
    local -a listed=()
    mintmark_begin -v named[ping] system.ping && mintmark_begin -v "listed[3]" system.ping || exit 1
    mintmark_await "${named[ping]}" && mintmark_await "${listed[3]}" || exit 1
    mintmark_begin -v rest system.ping
    is $? 64
    mintmark_stop
}

progress_of_a_call() {
    local number
    for ((number = 0; number < 1500; number++)); do echo "{\"email\":\"p$number@example.com\",\"emailVerified\":true}"; done >people.jsonl
    mintmark_testing --log /dev/null
    # shellcheck disable=SC2329
    show() { echo "told $1" >>told; }
    mintmark_call --progress show account.import file="$PWD/people.jsonl" || exit 1
    jq -e .nextLine < <(sed -n 's/^told //p' told) || exit 1
    is "$(mintmark_notifications)" ""
    mintmark_call --progress nobody system.ping
    is $? 64
    mintmark_call --progress show system.ping || exit 1
    mintmark_stop
}

from_the_log() {
    script 'mintmark_testing -- --log-level trace 2>log; mintmark_call system.ping; mintmark_stop'
    grep '^{' log || exit 1
    mintmark_testing --log other -- --log-level trace
    mintmark_call system.ping
    mintmark_stop
    grep '^{' other
}

items_of_all_pages() {
    mintmark_testing && is "$(mintmark_list pool.list)" ""
    local name
    for name in a b c; do mintmark_call pool.create name=$name >/dev/null || exit 1; done
    is "$(mintmark_list pool.list | jq -r .name | sort | tr '\n' ' ')" "a b c "
    is "$(mintmark_list pool.list limit:=1 | jq -r .name | sort | tr '\n' ' ')" "a b c "
    is "$(mintmark_list pool.list '{"limit":1}' | jq -r .name | sort | tr '\n' ' ')" "a b c "
    is "$(mintmark_list pool.list - <<<'{"limit":2}' | wc -l)" 3
    is "$(mintmark_list --trace pages pool.list limit:=2 | wc -l)" 3
    mintmark_list pool.list cursor=none
    is "$?" 1
    is "$(mintmark_error .type)" invalidCursor
    mintmark_list
    is "$?" 64
}

test_that "httpie-style parameters become JSON objects" parameters
test_that "parameters can be read from files and standard input" files_and_standard_input
test_that "JSON validation agrees with jq and also rejects what jq tolerates" json_as_jq
test_that "the functions work with any shell options" whatever_options
test_that "wait waits only for the script's jobs, which can call concurrently" waits
test_that "a call begun in a subshell can be awaited once outside, even after mintmark_stop" begun_elsewhere
test_that "each error has its exit status and a message with a remedy" statuses
test_that "a killed script leaves no process and no folder" killed_script
test_that "a killed keeper fails calls with status 74 and leaves no process and no folder" killed_keeper
test_that "killing a background call cancels it in the process" killed_job
test_that "the functions are found with any CDPATH" other_folders
test_that "setting logins without parameters is refused" logins_of_nobody
test_that "a script's EXIT trap is preserved" own_trap
test_that "names, IDs and numbers are never evaluated as code" names_are_no_code
test_that "an ID can be assigned to array elements but not to internal variables" begun_into_variables
test_that "requests that arrive at a clock tick are not lost" none_is_lost
test_that "removing the client's folder ends the keeper and the process" removed_folder
test_that "a process that does not read ends with its client or its script" process_that_does_not_read
test_that "a script killed after a hangup of its terminal leaves no folder" hung_up_terminal
test_that "a program started after waiting for another build does not hold the build lock" two_builds_at_once
test_that "a signal after a call ends the job" signals_after_a_call
test_that "mintmark_list prints the items of all pages, and fails with the error of a page" items_of_all_pages
test_that "mintmark_error returns the error of the last failed call" whose_error
test_that "a full folder fails calls instead of blocking them" full_folder
test_that "failure to create a pipe is reported, and the next call tries again" no_pipe
test_that "a delayed keeper still reports how the process ended" held_up_keeper
test_that "a child that keeps the output of the process open does not block the client" process_with_a_child
test_that "malformed and echoed responses are reported as garbage" strange_answers
test_that "the first call after a garbage response starts a new process" starts_anew_after_garbage
test_that "another shell gets an error that requires bash" other_shells
test_that "progress values are passed to the call's function" progress_of_a_call
test_that "calls work with standard error closed" without_standard_error
test_that "secrets never appear on the command line of another program" secrets_stay
test_that "the log is written to standard error or to a file" from_the_log
test_that "a service accepts only valid tokens of the identity provider" tokens_of_the_provider
test_that "the clock of Mintmark does not move the clock of the service" clocks_of_the_provider
test_that "a user signs in at a service, and a login that fails says why" logins_of_the_provider
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
