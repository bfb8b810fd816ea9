/** bun admin completions: prints a script that completes commands and options in a shell. */
import { Argument } from "@commander-js/extra-typings";
import { AdminCommand, type AnyCommand } from "./command.ts";

const shells = ["bash", "zsh", "fish"] as const;
/** The programs that are completed: a script of a clone, `bun admin`, belongs to the completion of Bun. */
const programs = ["leadfile", "leadfile-admin"];

/** The words before a command, and the words that can follow it. */
type Candidates = ReadonlyMap<string, readonly string[]>;

/** The script lists the commands of this version: install it again after an upgrade, as install.sh does. */
export function completionsCommand(): AnyCommand {
  const command: AnyCommand = new AdminCommand("completions", [
    "completions bash > /usr/share/bash-completion/completions/leadfile",
    "completions zsh >> ~/.zshrc",
    "completions fish > ~/.config/fish/completions/leadfile.fish",
  ])
    .addArgument(new Argument("<SHELL>", "the shell").choices(shells))
    .addHelpText("after", "\nCompletes leadfile and leadfile-admin. In a clone, Bun itself completes bun\nadmin.")
    .action((shell) => {
      const candidates = new Map(command.parent === null ? [] : candidatesOf(command.parent, []));
      process.stdout.write(shell === "fish" ? fishScript(candidates) : bashScript(candidates, shell));
    });
  return command;
}

/** Lists the candidates after a command, and after all commands below it. */
function candidatesOf(command: AnyCommand, path: readonly string[]): [string, string[]][] {
  const below = command.commands.filter((one) => one.name() !== "help");
  const options = command.options.flatMap(({ long }) => long ?? []);
  const own: [string, string[]] = [path.join(" "), [...below.map((one) => one.name()), ...options, "--help"]];
  return [own, ...below.flatMap((one) => candidatesOf(one, [...path, one.name()]))];
}

/** Zsh runs the function of bash. Where no candidate fits, both complete names of files. */
function bashScript(candidates: Candidates, shell: "bash" | "zsh"): string {
  const paths = [...candidates.keys()].filter((path) => path !== "");
  const cases = [...candidates].map(([path, words]) => `    "${path}") words="${words.join(" ")}" ;;`);
  return `# Completes the commands and options of Leadfile in ${shell}.
${shell === "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : ""}_leadfile() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" words="" word next index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    next="\${path:+$path }$word"
    case "$next" in
      ${paths.map((path) => `"${path}"`).join("|")}) path="$next" ;;
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _leadfile ${programs.join(" ")}
`;
}

/** Fish completes file names after a command that accepts them, without a rule. */
function fishScript(candidates: Candidates): string {
  const paths = [...candidates.keys()].filter((path) => path !== "");
  const lines = programs.flatMap((program) =>
    [...candidates].map(([path, words]) => {
      const noFiles = path.includes(" ") ? "" : "-f ";
      return `complete -c ${program} ${noFiles}-n 'test "$(__leadfile_path)" = "${path}"' -a '${words.join(" ")}'`;
    }),
  );
  return `# Completes the commands and options of Leadfile in fish.
function __leadfile_path
  set -l path
  set -l words (commandline -opc)
  set -e words[1]
  for word in $words
    contains -- "$path $word" ${paths.map((path) => `' ${path}'`).join(" ")}; and set path "$path $word"
  end
  string trim -- "$path"
end
${lines.join("\n")}
`;
}
