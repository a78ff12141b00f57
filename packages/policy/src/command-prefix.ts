/** Rules for commands by their first words, such as `npm run *`. Pure. */

/** Programs whose second word says what they do. Those whose arguments are code, or that reach out of the project, are left out. */
const withSubcommands = new Set(
  "npm pnpm yarn bun cargo go git make just gradle ./gradlew mvn ./mvnw poetry uv bundle rake composer dotnet mix swift".split(
    " ",
  ),
);
/** Their first word is enough. */
const withTargets = new Set(["make", "just", "rake", "gradle", "./gradlew", "mvn", "./mvnw"]);
/** Subcommands that run any program or package, that change settings, or that send the project elsewhere. */
const coversTooMuch = /^(?:exec|x|dlx|create|init|new|config|set|c|publish|node|explore|eval|tool|global|self)$/;
/** Their `run` names a script or a program of the project; that of others names any program. */
const runsOwn = new Set(["npm", "pnpm", "yarn", "bun", "cargo", "dotnet", "swift"]);

/** Words without anything that a shell would change or that would start something else. */
const plainCommand = /^[\w@%+:,./-]+(?: +[\w@%+=:,./-]+)*$/;

/**
 * Words that make a program run something else, such as `SHELL=./x` for make and `--receive-pack=./x` for git, or that lead
 * out of the project: addresses, other directories, what is installed for all projects.
 */
const leadsAway =
  /=|:\/\/|^\S+@\S+:|^(?:\/|\.\.(?:\/|$))|^-[cCg]$|^--(?:exec|receive-pack|upload-pack|repo|config|script-shell|node-options|prefix|global|git|registry|index-url|index)$/;

/** The rule that would cover this command and its like; undefined where that would cover too much. */
export function suggestPrefix(command: string): string | undefined {
  if (!plainCommand.test(command)) return undefined;
  const [program = "", ...rest] = command.trim().split(/ +/);
  if (rest.some((word) => leadsAway.test(word))) return undefined;
  if (withTargets.has(program)) return `${program} *`;
  const [subcommand = ""] = rest;
  if (!withSubcommands.has(program) || !/^[a-z][\w:-]*$/.test(subcommand) || coversTooMuch.test(subcommand))
    return undefined;
  if (program === "git" && !/^(?:push|pull|fetch)$/.test(subcommand)) return undefined;
  return subcommand === "run" && !runsOwn.has(program) ? undefined : `${program} ${subcommand} *`;
}

/** Whether a rule such as `npm run *` covers a command. Only one that a shell runs as it stands is covered. */
export const isCoveredByPrefix = (command: string, rule: string): boolean => suggestPrefix(command) === rule;
