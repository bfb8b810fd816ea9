/** Completions for zsh. */
import { type Place, quoted } from "./words.ts";

export function zshScript(places: readonly Place[]): string {
  const described = (text: string, about: string) => quoted(`${text}:${about.replaceAll(":", "\\:")}`);
  const words = places.map(
    ({ path, words }) =>
      `    ${quoted(path)}) found=(${words.map(({ text, about }) => described(text, about)).join(" ")}) ;;`,
  );
  const choices = places.flatMap(({ path, choices }) =>
    Object.entries(choices).map(
      ([option, values]) =>
        `    ${quoted(`${path} ${option}`)}) found=(${values.map((value) => quoted(value)).join(" ")}) ;;`,
    ),
  );
  return `#compdef leadfile
# Completions of Leadfile for zsh: source this file in ~/.zshrc, behind compinit.
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
