/** JSON mode: the session's header, then every event, one a line. */
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import type { ExitCode } from "./exit-codes.ts";
import { jsonLine } from "./json-line.ts";
import { sayAndEnd } from "./say.ts";

export const runJson = (options: SessionOptions, io: Io): Promise<ExitCode> =>
  sayAndEnd(options, io, (hosted) => {
    io.out(jsonLine(hosted.session.sessionManager.getHeader()));
    hosted.subscribe((item) => {
      if (item.kind === "event") return io.out(jsonLine(item.event));
      for (const notice of item.view.live.notices) io.out(jsonLine({ type: "notice", ...notice }));
    });
    return {
      end(_outcome, ending) {
        if (ending !== undefined && !options.quiet) io.err(`tau: ${ending}\n`);
      },
    };
  });
