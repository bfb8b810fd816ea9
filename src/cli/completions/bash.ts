/** Completions for bash. */
import { type Place, quoted } from "./words.ts";

export function bashScript(places: readonly Place[]): string {
  const words = places.map(
    ({ path, words }) => `    ${quoted(path)}) echo ${quoted(words.map(({ text }) => text).join(" "))} ;;`,
  );
  const choices = places.flatMap(({ path, choices }) =>
    Object.entries(choices).map(
      ([option, values]) => `    ${quoted(`${path} ${option}`)}) echo ${quoted(values.join(" "))} ;;`,
    ),
  );
  return `# Completions of Leadfile for bash: source this file in ~/.bashrc.
_leadfile_words() {
  case "$1" in
${words.join("\n")}
    *) return 1 ;;
  esac
}
_leadfile_choices() {
  case "$1" in
${choices.join("\n")}
    *) return 1 ;;
  esac
}
_leadfile_complete() {
  local first=$1 current=\${COMP_WORDS[COMP_CWORD]} path= position word words
  for ((position = first; position < COMP_CWORD; position++)); do
    word=\${COMP_WORDS[position]}
    _leadfile_words "\${path:+$path }$word" >/dev/null && path="\${path:+$path }$word"
  done
  words=$(_leadfile_choices "$path \${COMP_WORDS[COMP_CWORD - 1]}") || words=$(_leadfile_words "$path")
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ \${#COMPREPLY[@]} -gt 0 || $current == -* ]] || compopt -o default
}
_leadfile() { _leadfile_complete 1; }
complete -F _leadfile leadfile

# What bun completed before stays, but behind bun admin.
_leadfile_bun_before=$(complete -p bun 2>/dev/null | sed -n 's/.*-F \\([^ ]*\\).*/\\1/p')
[[ $_leadfile_bun_before == _leadfile_bun ]] && _leadfile_bun_before=
_leadfile_bun() {
  if [[ \${COMP_WORDS[1]} == admin && $COMP_CWORD -gt 1 ]]; then
    _leadfile_complete 2
  elif [[ -n $_leadfile_bun_before ]]; then
    "$_leadfile_bun_before" "$@"
  else
    compopt -o default
  fi
}
complete -F _leadfile_bun bun
`;
}
