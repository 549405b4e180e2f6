#!/usr/bin/env bash
# The completion script with the real program: what bash would offer.
set -euo pipefail
script=$1
tcact=$PWD/$2
# shellcheck disable=SC1090
source "$script"

# offers "WORDS UNDER THE CURSOR" WORD...: each WORD is offered behind them.
offers() {
  local line=$1 wanted
  shift
  read -ra COMP_WORDS <<< "$tcact $line"
  [[ $line == *" " || -z $line ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _tcact
  for wanted; do
    [[ " ${COMPREPLY[*]} " == *"$wanted"* ]] || { echo "behind '$line' no '$wanted' in: ${COMPREPLY[*]}"; exit 1; }
  done
}

offers "" actions bind -json
offers "act" actions
offers "-j actions " add flush
offers "actions add action ga" gact
offers "actions add action police ra" rate
offers "-s actions ls action gact " since
echo "all offered"
