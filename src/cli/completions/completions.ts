/** bun admin completions: a script with which a shell completes commands, made from the commands themselves. */
import { Argument, Command } from "commander";
import { adminCommand } from "../../program-name.ts";
import { print } from "../terminal/output.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { wordsOf } from "./words.ts";
import { zshScript } from "./zsh.ts";

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
type Shell = keyof typeof scripts;

export function completionsCommand(program: () => Promise<Command>): Command {
  return new Command("completions")
    .description("print the completions for a shell")
    .addArgument(new Argument("<SHELL>", "the shell that you type in").choices(Object.keys(scripts)))
    .addHelpText(
      "after",
      `
They complete "bun admin" and the executable "leadfile". What bun itself
completes stays.

  bash  ${adminCommand} completions bash > ~/.leadfile.bash
        echo 'source ~/.leadfile.bash' >> ~/.bashrc
  zsh   ${adminCommand} completions zsh > ~/.leadfile.zsh
        echo 'source ~/.leadfile.zsh' >> ~/.zshrc     (behind compinit)
  fish  ${adminCommand} completions fish > ~/.config/fish/conf.d/leadfile.fish`,
    )
    .action(async (shell: Shell) => void print(scripts[shell](wordsOf(await program()))));
}
