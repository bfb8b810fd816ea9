/** Completions for bash. */
import { choicesOf, type Place, quoted, shellFunction } from "./words.ts";

export function bashScript(places: readonly Place[]): string {
  const echo = (words: readonly string[]) => `echo ${quoted(words.join(" "))}`;
  const words = places.map(({ path, words }) => [path, echo(words.map(({ text }) => text))] as const);
  const choices = choicesOf(places).map(([typed, values]) => [typed, echo(values)] as const);
  return `# Completions of Leadfile for bash: source this file in ~/.bashrc.
${shellFunction("_leadfile_words", words)}
${shellFunction("_leadfile_choices", choices)}
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
