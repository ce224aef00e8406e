# Tab completion: mintmark_call tok<Tab> completes the method, then its parameters.
# shellcheck shell=bash disable=SC2154

_mintmark_complete() {
    local word=${COMP_WORDS[COMP_CWORD]} each method=""
    COMPREPLY=()
    for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ -z ${_mintmark_methods[$each]-} ]] || method=$each; done
    if [[ -z $method ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${!_mintmark_methods[*]}" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -W "${_mintmark_parameter_names[$method]}" -- "$word")
        compopt -o nospace
    fi
}

[[ $- != *i* ]] || complete -F _mintmark_complete mintmark_call mintmark_list mintmark_begin
