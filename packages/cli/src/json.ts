/** JSON mode: the header of the session, then every event, one JSON object per line. */
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import type { ExitCode } from "./exit-codes.ts";
import { jsonLine } from "./json-line.ts";
import { runPrompts } from "./run-prompts.ts";

export const runJson = (options: SessionOptions, io: Io): Promise<ExitCode> =>
  runPrompts(options, io, (hosted) => {
    io.out(jsonLine(hosted.session.sessionManager.getHeader()));
    hosted.subscribe((item) => {
      if (item.kind === "event") return io.out(jsonLine(item.event));
      for (const notice of item.view.live.notices) io.out(jsonLine({ type: "notice", ...notice }));
    });
    return (_outcome, reason) => {
      if (reason !== undefined && !options.quiet) io.err(`tau: ${reason}\n`);
    };
  });
