/** Programs that run commands of their standard input, always or if an argument says so: one row for each such call. */
import { forNames, type Judges } from "../programs/invocation.ts";
import { judgeOrigin } from "../programs/code.ts";
import { hasOrigin, origins } from "../shell/text.ts";

const input = String.raw`(?:-|/dev/stdin|/dev/fd/0|/proc/self/fd/0)(?: |$)`;

/** Tested on all arguments, joined by blanks. */
const calls: readonly (readonly [programs: string, args: RegExp])[] = [
  ["awk gawk mawk nawk", new RegExp(`(?:^| )(?:-f ?|--file[= ])${input}`)],
  ["sed gsed", new RegExp(`(?:^| )(?:-[a-zA-Z]*f ?|--file[= ])${input}`)],
  ["deno bun uv", new RegExp(String.raw`(?:^| )run (?:-\S+ )*${input}`)],
  ["gdb lldb", new RegExp(`(?:^| )(?:-x|--?command|-s|--source)[= ]?${input}`)],
  ["vi vim nvim", new RegExp(`(?:^| )-[sS] ?${input}`)],
  ["pwsh powershell", new RegExp(`(?:^| )-(?:c|Command|f|File) ${input}`, "i")],
  ["ed ex red nu elvish xonsh groovysh", /^/],
];

export const stdinCodeRules: Judges = Object.assign(
  {},
  ...calls.map(([programs, pattern]) =>
    forNames(programs, ({ args }, scope) => {
      if (!pattern.test(args.map(({ text }) => text).join(" "))) return;
      for (const code of scope.stdin) if (hasOrigin(code, origins.network)) judgeOrigin(code, scope);
    }),
  ),
) as Judges;
