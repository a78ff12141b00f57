/** JSON mode: the session's header, then every event, one a line. */
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { firstRunText } from "./first-run.ts";
import { jsonLine } from "./json-line.ts";
import { openSession } from "./open-session.ts";
import { endText, exitCodeOf, sayAll, watchDenials } from "./print.ts";
import { readInput } from "./read-input.ts";

export async function runJson(options: SessionOptions, io: Io): Promise<ExitCode> {
  const input = await readInput(io);
  const session = await openSession(options, io);
  try {
    if (!session.model) {
      io.err(firstRunText());
      return exitCodes.failed;
    }
    io.out(jsonLine(session.sessionManager.getHeader()));
    for (const { code, message } of session.notices) io.out(jsonLine({ type: "notice", code, message }));
    session.onSessionEvent((event) => io.out(jsonLine(event)));
    const denied = watchDenials(session);
    const outcome = await sayAll(session, options, input);
    await io.drained();
    const said = endText(outcome, denied());
    if (said !== undefined && !options.quiet) io.err(`tau: ${said}\n`);
    return exitCodeOf(outcome, denied());
  } finally {
    await session.dispose();
  }
}
