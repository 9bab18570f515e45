import { MigrateError } from "../../errors/migrate-error.ts";
import { defineCommand } from "../../cli/command/command.ts";
import { flag, wrongFlag } from "../../cli/command/flags.ts";
import type * as shapes from "./json.ts";

/*
 * All scripts call the `migrate` that is typed, or that of the project where `migrate` is an alias. It prints a line for
 * each candidate: the word, a tab and its meaning. If there is none, the shell completes file names.
 */
const scripts: Readonly<Record<string, string>> = {
  bash: `_migrate() {
  local program line
  program=$(type -P -- "$1") || program=node_modules/.bin/migrate
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <("$program" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _migrate migrate lance-migrate`,
  zsh: `#compdef migrate lance-migrate
_migrate() {
  local program=$words[1] line
  local -a found
  [[ $program == */* ]] || program=\${commands[$program]:-node_modules/.bin/migrate}
  "$program" __complete "\${(@Q)words[2,CURRENT]}" 2>/dev/null | while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( $#found )); then _describe migrate found; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _migrate "$@"; else compdef _migrate migrate lance-migrate; fi`,
  fish: `function __migrate_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (command -s $words[1]); or set program node_modules/.bin/migrate
    set -e words[1]
    set -l found ($program __complete $words "$current" 2>/dev/null)
    if set -q found[1]
        printf '%s\\n' $found
    else
        __fish_complete_path "$current"
    end
end
complete -c migrate -f -a '(__migrate_complete)'
complete -c lance-migrate -f -a '(__migrate_complete)'`,
};
const shells = Object.keys(scripts);
const problem = `must be one of ${shells.join(", ")}`;

export const completionCommand = defineCommand({
  describe: "print a script with which a shell completes commands, flags, targets, migrations and tables",
  examples: [
    ["migrate completion bash", 'for ~/.bashrc: eval "$(migrate completion bash)"'],
    ["migrate completion zsh", 'for ~/.zshrc: eval "$(migrate completion zsh)"'],
    ["migrate completion fish", "for ~/.config/fish/config.fish: migrate completion fish | source"],
  ],
  readsConfig: false,
  flags: {
    shell: flag(
      "positional",
      shells.join(", "),
      (typed) => (typeof typed === "string" && Object.hasOwn(scripts, typed) ? typed : wrongFlag(problem)),
      { value: shells.join("|") },
    ),
  },
  async run({ flags: { shell }, output }) {
    if (shell === undefined) throw new MigrateError("ERR_USAGE", { problem: `the shell ${problem}` });
    const script = scripts[shell]!;
    output.data<typeof shapes.completion>({ shell, script });
    output.results(script.split("\n"));
    return undefined;
  },
});
