# Generates and validates JSON in bash, because starting jq takes longer than a call. Longer texts are passed to jq on standard input.
# Every function here works on bytes (LC_ALL=C) and sets REPLY.
# shellcheck shell=bash

# The length in bytes above which jq is faster.
_mintmark_long=4000

# _mintmark_text TEXT: REPLY is the text as a JSON string. Status 1 if it is not UTF-8.
_mintmark_text() {
    local LC_ALL=C text=$1 number byte code
    _mintmark_is_utf8 "$text" || return 1
    if ((${#text} > _mintmark_long)) && [[ $text == *[\"\\$'\x01'-$'\x1f']* ]]; then
        REPLY=$(printf '%s' "$text" | jq -Rs .)
        return
    fi
    text=${text//\\/\\\\}
    text=${text//\"/\\\"}
    if [[ $text == *[$'\x01'-$'\x1f']* ]]; then
        for ((number = 1; number < 32; number++)); do
            printf -v code '%02x' "$number"
            printf -v byte %b "\\x$code"
            text=${text//"$byte"/\\u00$code}
        done
    fi
    REPLY="\"$text\""
}

# Whether a text is valid UTF-8, as JSON requires, without encoded surrogates.
_mintmark_is_utf8() {
    local LC_ALL=C
    [[ $1 != *[$'\x80'-$'\xff']* ]] || printf '%s' "$1" | iconv -f UTF-8 -t UTF-8 >/dev/null 2>&1
}

# _mintmark_json TEXT: REPLY is the JSON text on one line. Status 1 if it is not valid JSON.
_mintmark_json() {
    local LC_ALL=C text=$1
    case $text in
        true | false | null | '{}' | '[]') REPLY=$text; return ;;
    esac
    _mintmark_is_utf8 "$text" || return 1
    # jq 1.6 rounds numbers with more digits than a double can represent.
    if ((${#text} > _mintmark_long)) && [[ ! $text =~ [0-9]{16} ]]; then
        # jq accepts NaN, and converts large numbers to infinity.
        REPLY=$(printf '%s' "$text" | jq -cse 'def depth: if type == "object" or type == "array" then 1 + ([.[] | depth] | max // 0) else 0 end;
            if length == 1 and all(.[0] | .. | numbers; isnan or . > 1.7e308 or . < -1.7e308 | not) and (.[0] | depth) <= 64 then .[0] else error end' 2>/dev/null)
        return
    fi
    REPLY=${text//[$'\n\r\t']/ }
    _mintmark_is_json "$text"
}

_mintmark_scalar='^([^"]*)"(([^"\\]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*)"(.*)$'

# Whether a short text is valid JSON. Replaces strings, then other scalars, then lists and objects of these by one marker, until a single marker
# remains.
_mintmark_is_json() {
    local LC_ALL=C text=$1 done="" sign=$'\x01' name=$'\x02' before pair value rest
    [[ $text != *[$'\x01'-$'\x08\x0b\x0c\x0e'-$'\x1f']* ]] || return 1
    while [[ $text =~ $_mintmark_scalar ]]; do
        before=${BASH_REMATCH[1]} value=${BASH_REMATCH[2]} rest=${BASH_REMATCH[4]}
        [[ $value != *[$'\t\n\r']* ]] && _mintmark_has_whole_pairs "$value" || return 1
        done+=$before$name text=$rest
    done
    text=${done}${text}
    [[ $text != *\"* ]] || return 1
    text=${text//[$'\t\n\r']/ }
    # A number or literal between two of [ ] { } , : and spaces.
    local scalar="(^|[][{},: ])(true|false|null|-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?)([][{},: ]|\$)"
    while [[ $text =~ $scalar ]]; do
        text=${text/"${BASH_REMATCH[0]}"/"${BASH_REMATCH[1]}$sign${BASH_REMATCH[6]}"}
    done
    text=${text// /}
    [[ $text != *[^][{},:$sign$name]* ]] || return 1
    _mintmark_is_flat "$text" || return 1
    local either="[$sign$name]" object list
    pair="$name:$either" object="\\{($pair(,$pair)*)?\\}" list="\\[($either(,$either)*)?\\]"
    while [[ $text =~ $object || $text =~ $list ]]; do
        text=${text/"${BASH_REMATCH[0]}"/"$sign"}
    done
    [[ $text == "$sign" || $text == "$name" ]]
}

# Whether lists and objects are nested at most 64 levels deep, which is the limit of Mintmark.
_mintmark_is_flat() {
    local signs=${1//[^][\{\}]/} level=0 place
    ((${#signs} > 128)) || return 0
    for ((place = 0; place < ${#signs}; place++)); do
        if [[ ${signs:place:1} == [[\{] ]]; then ((++level <= 64)) || return 1; else ((level--)); fi
    done
    return 0
}

# Whether the content of a string contains only complete surrogate pairs among its escapes.
_mintmark_has_whole_pairs() {
    local text=${1//\\\\/} half='\\u[dD][89a-fA-F]' pair='\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}'
    while [[ $text =~ $pair ]]; do text=${text/"${BASH_REMATCH[0]}"/-}; done
    [[ ! $text =~ $half ]]
}

_mintmark_before_value='^[^=[]*(\[[^]]*\])?[^=]*='
_mintmark_parameter='^([A-Za-z_$][A-Za-z0-9_$]*)(\[([^]]*)\])?(:?@?)=$'

# _mintmark_parameters ARGUMENT…: REPLY is the object that the arguments describe. On failure, REPLY is the reason and the status is 1.
_mintmark_parameters() {
    local LC_ALL=C argument head key inner how value name members=""
    local -a order=()
    local -A plain=() objects=() lists=()
    if (($# == 1)) && [[ $1 == - || $1 =~ ^[[:space:]]*\{ ]]; then
        value=$1
        [[ $value != - ]] || value=$(tr '\000' '\377')
        _mintmark_json "$value" && [[ $REPLY =~ ^\ *\{ ]] && return
        REPLY="these parameters are no JSON object: ${value:0:80}"
        return 1
    fi
    for argument; do
        head=${argument:0:600} inner=""
        [[ $head =~ $_mintmark_before_value ]] && head=${BASH_REMATCH[0]}
        if [[ ! $head =~ $_mintmark_parameter ]]; then
            case $argument in
                --as | --timeout | --trace | -v) REPLY="$argument stands before the method"; return 1 ;;
            esac
            REPLY="${argument:0:80} is no parameter: write name=text, name:=json, name[member]=text, name[]=text, name@=file or name:@=file"
            return 1
        fi
        key=${BASH_REMATCH[1]} inner=${BASH_REMATCH[2]} name=${BASH_REMATCH[3]} how=${BASH_REMATCH[4]} value=${argument:${#head}}
        if [[ $how == *@ ]]; then
            # The final dot preserves line ends at the end of the file. bash drops NUL bytes, so tr converts them to a byte that is not valid in
            # UTF-8.
            [[ $value != - ]] || value=/dev/stdin
            value=$(tr '\000' '\377' <"$value" && printf .) || { REPLY="the file of $key cannot be read"; return 1; }
            value=${value%.}
            [[ $value != *$'\xff'* ]] || { REPLY="the file of $key has a NUL byte, or is not UTF-8: bytes go as text, such as base64"; return 1; }
        fi
        if [[ $how == :* ]]; then
            _mintmark_json "$value" || { REPLY="the value of $key has no JSON, or nests deeper than 64 levels: ${value:0:80}. For a text write $key=…"; return 1; }
        else
            _mintmark_text "$value" || { REPLY="the text of $key is not UTF-8"; return 1; }
        fi
        value=$REPLY
        [[ -n ${plain[$key]-}${objects[$key]-}${lists[$key]-} ]] || order+=("$key")
        if [[ -n ${plain[$key]-} || ( -z $inner && -n ${objects[$key]-}${lists[$key]-} ) ]]; then
            REPLY="$key is given twice"
            return 1
        fi
        if [[ -z $inner ]]; then plain[$key]=$value
        elif [[ -z $name ]]; then
            [[ -z ${objects[$key]-} ]] || { REPLY="$key is given as a list and as an object"; return 1; }
            lists[$key]+=,$value
        else
            [[ -z ${lists[$key]-} ]] || { REPLY="$key is given as a list and as an object"; return 1; }
            _mintmark_text "$name" || { REPLY="a member of $key is not UTF-8"; return 1; }
            objects[$key]+=,$REPLY:$value
        fi
    done
    for key in "${order[@]}"; do
        if [[ -n ${plain[$key]-} ]]; then value=${plain[$key]}
        elif [[ -n ${objects[$key]-} ]]; then value="{${objects[$key]:1}}"
        else value="[${lists[$key]:1}]"; fi
        members+=",\"$key\":$value"
    done
    REPLY="{${members:1}}"
}
