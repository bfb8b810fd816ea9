/** Completions for zsh. */
import { choicesOf, type Place, quoted, shellFunction, type Word } from "./words.ts";

export function zshScript(places: readonly Place[]): string {
  const found = (items: readonly string[]) => `found=(${items.map(quoted).join(" ")})`;
  const described = ({ text, about }: Word) => `${text}:${about.replaceAll(":", "\\:")}`;
  const words = places.map(({ path, words }) => [path, found(words.map(described))] as const);
  const choices = choicesOf(places).map(([typed, values]) => [typed, found(values)] as const);
  return `#compdef leadfile
# Completions of Leadfile for zsh: source this file in ~/.zshrc, behind compinit.
${shellFunction("_leadfile_words", words)}
${shellFunction("_leadfile_choices", choices)}
_leadfile_complete() {
  local -a found
  local place= position
  for ((position = $1; position < CURRENT; position++)); do
    _leadfile_words "\${place:+$place }$words[position]" && place="\${place:+$place }$words[position]"
  done
  _leadfile_choices "$place $words[CURRENT-1]" || _leadfile_words "$place"
  _describe 'leadfile' found || _files
}
_leadfile() { _leadfile_complete 2 }
compdef _leadfile leadfile

# What bun completed before stays, but behind bun admin.
_leadfile_bun() {
  if [[ $words[2] == admin && CURRENT -gt 2 ]]; then
    _leadfile_complete 3
  elif (( $+functions[_bun] )); then
    _bun "$@"
  else
    _files
  fi
}
compdef _leadfile_bun bun
`;
}
