import type { Command } from "./command.ts";

export function helpText(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    "tau, an agent harness",
    "",
    "Usage: tau <command> [arguments]",
    "",
    "Commands:",
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    "",
    "Options:",
    "  -h, --help     Show this text",
    "  -v, --version  Show the version",
    "",
    "Exit codes: 0 done, 1 failed, 2 usage, 3 denied by policy, 130 interrupted",
    "",
  ].join("\n");
}
