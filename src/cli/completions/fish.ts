/** Completions for fish. */
import { type Place, quoted } from "./words.ts";

export function fishScript(places: readonly Place[]): string {
  const paths = places.map(({ path }) => quoted(path)).join(" ");
  const lines = ["leadfile", "bun"].flatMap((program) =>
    places.flatMap(({ path, words, choices }) => {
      const at = `complete -c ${program} -n ${quoted(`__leadfile_at ${quoted(path)}`)}`;
      return words.map(({ text, about }) => {
        const says = about === "" ? "" : ` -d ${quoted(about)}`;
        // Where a word of ours is due, a file is not.
        if (!text.startsWith("--")) return `${at} -f -a ${quoted(text)}${says}`;
        const values = choices[text];
        return `${at} -l ${text.slice(2)}${values === undefined ? "" : ` -xa ${quoted(values.join(" "))}`}${says}`;
      });
    }),
  );
  return `# Completions of Leadfile for fish: put this file into ~/.config/fish/conf.d.
function __leadfile_at
    set -l places ${paths}
    set -l typed (commandline -opc)
    if string match -q '*bun' -- $typed[1]
        test "$typed[2]" = admin; or return 1
        set -e typed[1]
    end
    set -e typed[1]
    set -l place ''
    for word in $typed
        set -l next (string trim -- "$place $word")
        contains -- "$next" $places; and set place $next
    end
    test "$place" = "$argv[1]"
end
${lines.join("\n")}
`;
}
