/** JSON mode: the session's header, then every event, one a line. */
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import type { ExitCode } from "./exit-codes.ts";
import { jsonLine } from "./json-line.ts";
import { sayAndEnd } from "./say.ts";

export const runJson = (options: SessionOptions, io: Io): Promise<ExitCode> =>
  sayAndEnd(options, io, (session) => {
    io.out(jsonLine(session.sessionManager.getHeader()));
    for (const { code, message } of session.notices) io.out(jsonLine({ type: "notice", code, message }));
    session.onSessionEvent((event) => io.out(jsonLine(event)));
    return {
      end(_outcome, said) {
        if (said !== undefined && !options.quiet) io.err(`tau: ${said}\n`);
      },
    };
  });
