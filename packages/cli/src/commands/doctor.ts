import { getErrorMessage } from "@tau/ai/internal";
import type { Io } from "./command.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { jsonLine } from "../modes/json-line.ts";
import { type Colour, tableText } from "../process/table.ts";
import { clearLine, showsProgress } from "../process/terminal-text.ts";
import { openAccess } from "./access.ts";
import { openCommandContext } from "./command-context.ts";
import { type CheckContext, type CheckResult, checks } from "./doctor-checks.ts";
import type { CommandArgs } from "./usage.ts";

const colours: Record<CheckResult["status"], Colour> = { ok: "green", warn: "yellow", fail: "red" };

export async function runChecks(args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const access = await openAccess(io);
  const context: CheckContext = {
    io,
    access,
    ...(await openCommandContext(io)),
    env: io.env,
    canStartPrograms: true,
    openAuth: async () => access.auth,
    useNetwork: args.has("network"),
  };
  const results: ({ check: string } & CheckResult)[] = [];
  try {
    for (const { name, run } of checks) {
      if (io.signal.aborted) return exitCodes.interrupted;
      if (showsProgress(io)) io.err(`${clearLine(io.env)}checking ${name}`);
      const result = await run(context).catch((error: unknown): CheckResult => {
        const fix = "This error was not expected. Try again, and report it if it happens again.";
        return { status: "fail", says: getErrorMessage(error), fix };
      });
      results.push({ check: name, ...result });
    }
  } finally {
    if (showsProgress(io)) io.err(clearLine(io.env));
    access.registry.close();
  }
  if (args.has("json")) io.out(jsonLine(results));
  else {
    const rows = results.map(({ check, status, says }) => [check, { text: status, colour: colours[status] }, says]);
    io.out(tableText([{ title: "CHECK" }, { title: "STATUS" }, { title: "RESULT", shrinks: true }], rows, io));
    // The result is repeated, because the table may have cut it.
    const fixes = results.flatMap(({ check, says, fix }) => (fix ? `  ${check}: ${says}\n      ${fix}\n` : []));
    if (fixes.length > 0) io.out(`\nWhat to do:\n${fixes.join("")}`);
  }
  if (results.some(({ status }) => status === "fail")) return exitCodes.failed;
}
