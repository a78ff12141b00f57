/** Rules for commands by their first words, such as `npm run *`. Pure. */

/** Programs whose second word says what they do. Those whose arguments are code, or that reach out of the project, are left out. */
const withSubcommands = new Set(
  "npm pnpm yarn bun cargo go git make just gradle ./gradlew mvn ./mvnw poetry uv bundle rake composer dotnet mix swift".split(
    " ",
  ),
);
/** Their first word is enough. */
const withTargets = new Set(["make", "just", "rake", "gradle", "./gradlew", "mvn", "./mvnw"]);

/** Words without anything that a shell would change or that would start something else. */
const plainCommand = /^[\w@%+:,./-]+(?: +[\w@%+=:,./-]+)*$/;

const toWords = (command: string): string[] => command.trim().split(/ +/);

/** The rule that would cover this command and its like; undefined where that would cover too much. */
export function suggestPrefix(command: string): string | undefined {
  if (!plainCommand.test(command)) return undefined;
  const [program = "", subcommand = ""] = toWords(command);
  if (withTargets.has(program)) return `${program} *`;
  const isWord = /^[a-z][\w:-]*$/.test(subcommand) && !(program === "git" && !/^(?:push|pull|fetch)$/.test(subcommand));
  return withSubcommands.has(program) && isWord ? `${program} ${subcommand} *` : undefined;
}

/** Words that make a program run something else, such as `SHELL=./x` for make and `--receive-pack=./x` for git. */
const startsMore = /=|^-[cC]$|^--(?:exec|receive-pack|upload-pack|config|script-shell|node-options|prefix)$/;

/** Whether a rule such as `npm run *` covers a command. Only one that a shell runs as it stands is covered. */
export function isCoveredByPrefix(command: string, rule: string): boolean {
  const prefix = toWords(rule);
  if (prefix.pop() !== "*" || prefix.length === 0 || !plainCommand.test(command)) return false;
  const words = toWords(command);
  const isAlike = prefix.every((word, index) => word === words[index]);
  return isAlike && !words.slice(prefix.length).some((word) => startsMore.test(word));
}
