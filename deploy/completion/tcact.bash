# bash completion of tcact. It asks the program itself, so it knows the kinds of the tcact that is installed.
# Source it, or put it at /usr/share/bash-completion/completions/tcact.
_tcact() {
  local word=${COMP_WORDS[COMP_CWORD]}
  local IFS=$'\n'
  # Words typed so far, without the program and without the one under the cursor.
  COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2> /dev/null)" -- "$word"))
}
# Where tcact offers nothing, files: the value of -batch is one.
complete -o default -F _tcact tcact
